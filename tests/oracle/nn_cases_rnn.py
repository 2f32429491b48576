"""Cases of nn_cases.py: more recurrent modules and cells."""

import torch
from torch import nn
from torch.nn.utils import rnn

from nn_values import plain, values_of

LENGTHS = [[3, 1], [2, 3]]


def packed(module, x, *states):
    """The padded outputs, last states and lengths, with sorted and with unsorted lengths."""
    results = []
    for lengths in LENGTHS:
        batch_first = module.batch_first
        sequence = rnn.pack_padded_sequence(x, torch.tensor(lengths), batch_first, lengths[0] > lengths[1])
        hx = None if not states else states if len(states) == 2 else states[0]
        output, last = module(sequence, hx)
        padded, padded_lengths = rnn.pad_packed_sequence(output, batch_first, -1.0, 4)
        results += [padded, *(last if isinstance(last, tuple) else [last]), padded_lengths]
    return results


def cases():
    sequence, batch_first = values_of(3, 2, 4), values_of(2, 3, 4)
    h, c = values_of(2, 2, 3), values_of(2, 2, 3) / 2

    def projected():
        return nn.LSTM(4, 5, num_layers=2, proj_size=3, bidirectional=True)

    yield "lstm_projected", projected, [sequence], plain
    yield ("lstm_projected_state", lambda: nn.LSTM(4, 5, proj_size=3, bias=False),
           [sequence, values_of(1, 2, 3), values_of(1, 2, 5)], lambda m, x, h, c: m(x, (h, c)))
    yield "lstm_dropout", lambda: nn.LSTM(4, 3, num_layers=2, dropout=0.4), [sequence], plain
    yield "gru_dropout", lambda: nn.GRU(4, 3, num_layers=3, dropout=0.4), [sequence], plain
    yield "lstm_unbatched", lambda: nn.LSTM(4, 3, bidirectional=True), [values_of(3, 4)], plain
    yield ("gru_unbatched", lambda: nn.GRU(4, 3, num_layers=2, batch_first=True),
           [values_of(3, 4), values_of(2, 3)], plain)
    yield "gru_batch_first", lambda: nn.GRU(4, 3, batch_first=True), [batch_first], plain
    yield ("rnn_tanh_state", lambda: nn.RNN(4, 3, bias=False, bidirectional=True),
           [sequence, h], plain)
    yield "lstm_packed", lambda: nn.LSTM(4, 3, num_layers=2), [sequence, h, c], packed
    yield ("lstm_packed_projected", lambda: nn.LSTM(4, 5, proj_size=3, bidirectional=True),
           [sequence], packed)
    yield ("gru_packed", lambda: nn.GRU(4, 3, bidirectional=True, batch_first=True),
           [batch_first, h], packed)
    yield ("rnn_packed", lambda: nn.RNN(4, 3, nonlinearity="relu", bidirectional=True),
           [sequence], packed)

    x, state = values_of(2, 4), values_of(2, 3)
    yield ("lstm_cell", lambda: nn.LSTMCell(4, 3), [x, state, state / 2],
           lambda m, x, h, c: m(x, (h, c)))
    yield "lstm_cell_plain", lambda: nn.LSTMCell(4, 3, bias=False), [x[0]], plain
    yield "gru_cell", lambda: nn.GRUCell(4, 3), [x, state], plain
    yield "gru_cell_unbatched", lambda: nn.GRUCell(4, 3, bias=False), [x[0], state[1]], plain
    yield "rnn_cell", lambda: nn.RNNCell(4, 3), [x, state], plain
    yield "rnn_cell_relu", lambda: nn.RNNCell(4, 3, nonlinearity="relu"), [x], plain
