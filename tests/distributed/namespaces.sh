#!/usr/bin/env bash
# namespaces.sh BUILD: `hearth launch --cluster` trains on two machines, one of which fails. A machine is
# a network namespace with an address and an ssh server of its own. Skipped with exit code 77 without
# root, namespaces, Gloo or a needed program.
set -euo pipefail

skip() {
  echo "namespaces.sh: skipped, $1"
  exit 77
}

if [[ $1 != --inside ]]; then
  [[ $(id -u) == 0 ]] || skip "only root may run ssh servers in namespaces"
  for program in unshare ip ssh ssh-keygen /usr/sbin/sshd; do
    command -v "$program" > /dev/null || skip "there is no $program (packages util-linux, iproute2, openssh-server)"
  done
  id sshd > /dev/null 2>&1 || skip "there is no user 'sshd' (package openssh-server)"
  isolate=(unshare --mount --net --pid --fork --kill-child --mount-proc)
  "${isolate[@]}" true 2> /dev/null || skip "namespaces are not allowed here"
  build=$(realpath "$1")
  [[ -e $build/libhearth_gloo.so ]] || skip "this build has no Gloo"
  exec "${isolate[@]}" -- "$(realpath "$0")" --inside "$build"
fi

build=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
mount -t tmpfs tmpfs /run
mkdir /run/sshd
cd "$folder"

fail() {
  echo "namespaces.sh: $1" >&2
  tail -n 40 output >&2
  exit 1
}

on() { # on MACHINE COMMAND...
  ip netns exec "$@"
}

ssh-keygen -q -t ed25519 -N "" -f key
cat > sshd_config << END
HostKey $folder/key
AuthorizedKeysFile $folder/key.pub
StrictModes no
UsePAM no
PidFile none
END

ip netns add one 2> /dev/null || skip "network namespaces cannot be created here"
ip netns add two
ip link add wire netns one type veth peer name wire netns two 2> /dev/null ||
  skip "virtual network cards cannot be created here"
for machine in one two; do
  address=10.77.0.$([[ $machine == one ]] && echo 1 || echo 2)
  on $machine ip address add $address/24 dev wire
  on $machine ip link set lo up
  on $machine ip link set wire up
  on $machine /usr/sbin/sshd -f sshd_config -E sshd.log
done

cat > cluster.toml << END
directory = "$folder"
interface = "wire"
[environment]
HEARTH_TEST_RANK_FUNCTION = "training"
HEARTH_TEST_CHECKPOINT = "$folder/checkpoint"
OMP_NUM_THREADS = 1
[[host]]
name = "one"
address = "10.77.0.1"
[[host]]
name = "two"
address = "10.77.0.2"
END

# launch FLAGS... -- PROGRAM...: starts ranks from machine one, in the background; the process is $launcher.
launch() {
  : > output
  on one "$build/hearth" launch --cluster cluster.toml --no-prefix --heartbeat-timeout 2 \
    --ssh "ssh -i $folder/key -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectTimeout=2" \
    "$@" > output 2>&1 &
  launcher=$!
}

train() { # train FLAGS...
  rm -f checkpoint
  launch "$@" -- "$build/test_distributed"
}

# train_fashion OUT FLAGS...: `hearth train` on files in the format of Fashion-MNIST, for $epochs epochs.
epochs=3
train_fashion() {
  local out=$1
  shift
  launch "$@" -- "$build/hearth" train --data "fashion-mnist:$folder/images" --out "$folder/$out" --device cpu \
    --batch-size 8 --epochs $epochs --lr 0.001 --log-losses
}

# train_by_hand MACHINE RANK: starts a rank of `hearth train` without a launcher, endlessly, in the background.
train_by_hand() {
  on "$1" env RANK="$2" WORLD_SIZE=2 MASTER_ADDR=10.77.0.1 MASTER_PORT=29555 GLOO_SOCKET_IFNAME=wire OMP_NUM_THREADS=1 \
    "$build/hearth" train --data "fashion-mnist:$folder/images" --out "$folder/by-hand-$1" --device cpu \
    --batch-size 8 --epochs 100000 > "by-hand-$1.txt" 2>&1 &
  by_hand+=($!)
}
by_hand=()

make_images() {
  mkdir images
  python3 - << 'END'
import random
import struct

random.seed(0)
patterns = [bytes(random.choices((0, 200), k=784)) for _ in range(10)]
for name, count in ("train", 1600), ("t10k", 200):
    labels = bytes(random.choices(range(10), k=count))
    images = b"".join(bytes(p // 2 + random.randrange(50) for p in patterns[label]) for label in labels)
    with open(f"images/{name}-images-idx3-ubyte", "wb") as file:
        file.write(struct.pack(">4i", 0x803, count, 28, 28) + images)
    with open(f"images/{name}-labels-idx1-ubyte", "wb") as file:
        file.write(struct.pack(">2i", 0x801, count) + labels)
END
}

# ranks_of MACHINE: the process ids of the ranks on the machine.
ranks_of() {
  local process
  for process in $(ip netns pids "$1"); do
    grep -qz "^HEARTH_TEST_RANK_FUNCTION=" "/proc/$process/environ" 2> /dev/null && echo "$process"
  done
  return 0
}

# until_true SECONDS COMMAND...: repeats the command until it succeeds; fails after the seconds.
until_true() {
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    ((SECONDS < end)) || return 1
    sleep 0.05
  done
}

is_training() { [[ -e checkpoint ]] && sleep 0.3; }
answers() { on one bash -c "exec 3<> /dev/tcp/$1/22" 2> /dev/null; }
has_no_ranks() { [[ -z $(ranks_of "$1") ]]; }
begins() { grep -c "ranks begin at step" output || true; }
has_epoch() { grep -q "^1,$2," "$1/results.csv" 2> /dev/null; }
weights() { sed -n 's/^weights //p' output; }

echo "undisturbed"
train
wait $launcher || fail "the training has failed"
expected=$(weights)
[[ -n $expected ]] || fail "there are no weights"

echo "a rank is killed: the job continues from its checkpoint, bit for bit"
train --max-restarts 1
until_true 30 is_training || fail "the training does not begin"
kill -KILL $(ranks_of two)
wait $launcher || fail "the training has failed"
[[ $(begins) == 2 ]] || fail "there was no restart"
grep -q "2 ranks begin at step [1-9]" output || fail "the checkpoint was not used"
grep -q "rank 1 on two failed with signal 9 (SIGKILL)" output || fail "the failure was not reported"
[[ $(weights) == "$expected" ]] || fail "the weights are $(weights), not $expected"

echo "a machine is cut off: the job continues without it"
train --nnodes 1:2 --max-restarts 1
until_true 30 is_training || fail "the training does not begin"
cut=$SECONDS
on two ip link set wire down
until_true 15 grep -q "the connection to two failed" output || fail "the lost machine was not noticed"
echo "  noticed after $((SECONDS - cut)) s"
until_true 15 has_no_ranks two || fail "the ranks on the lost machine live on"
wait $launcher || fail "the training has failed"
grep -q "continuing without the machines that cannot be reached: two" output || fail "two is not left out"
grep -q "1 ranks begin at step [1-9]" output || fail "the checkpoint was not used"
# With one rank, gradients are summed in another order.
awk -v a="$(weights)" -v b="$expected" 'BEGIN { exit !(a - b < 1e-9 && b - a < 1e-9) }' ||
  fail "the weights are $(weights), not $expected"

echo "hearth train: a rank is killed, and the job continues from its checkpoint, bit for bit"
make_images
on two ip link set wire up
until_true 15 answers 10.77.0.2 || fail "two cannot be reached although its link is up"
train_fashion whole
wait $launcher || fail "hearth train has failed"
grep -q "2 processes" output || fail "the ranks have trained alone"
[[ $(grep -c "epoch 3/3  loss" output) == 1 ]] || fail "the results did not appear once"
train_fashion killed --max-restarts 1
until_true 60 has_epoch killed 1 || fail "the first epoch does not end"
kill -KILL $(ranks_of two)
wait $launcher || fail "hearth train was not restarted"
grep -q "rank 1 on two failed with signal 9 (SIGKILL)" output || fail "the failure was not reported"
[[ $(grep -c "epoch 1/3  loss" output) == 1 ]] || fail "the checkpoint was not used"
for file in losses.csv weights.safetensors; do
  cmp whole/run-1/$file killed/run-1/$file || fail "$file differs from that of the undisturbed training"
done
tail -n 1 whole/run-1/losses.csv

echo "hearth top on the other machine shows both ranks; a machine is cut off: hearth train continues without it"
epochs=10
train_fashion cut --nnodes 1:2 --max-restarts 1 --shutdown-timeout 3
train_by_hand one 0
train_by_hand two 1
until_true 60 has_epoch cut 1 || fail "the first epoch does not end"
until_true 60 has_epoch by-hand-one 1 || fail "the processes that were started by hand do not train"
shows_both() {
  on two "$build/hearth" top 10.77.0.1:29555 > table && [[ $(grep -cE "^[01] .* %" table) == 2 ]]
}
until_true 10 shows_both || fail "hearth top shows: $(< table)"
cat table
cut=$SECONDS
on two ip link set wire down
until_true 15 grep -q "the connection to two failed" output || fail "the lost machine was not noticed"
echo "  noticed after $((SECONDS - cut)) s"
wait $launcher || fail "hearth train has failed"
grep -q "continuing without the machines that cannot be reached: two" output || fail "two is not left out"
for epoch in 1 10; do
  [[ $(grep -c "epoch $epoch/10  loss" output) == 1 ]] || fail "epoch $epoch was not trained once"
done

echo "without a launcher, both processes notice that the link is down"
by_hand_have_ended() { ! kill -0 "${by_hand[@]}" 2> /dev/null; }
until_true 45 by_hand_have_ended || fail "they do not notice it"
echo "  noticed after $((SECONDS - cut)) s"
for machine in one two; do
  grep -q "cannot be reached" by-hand-$machine.txt || fail "on $machine: $(cat by-hand-$machine.txt)"
done

echo "ok"
