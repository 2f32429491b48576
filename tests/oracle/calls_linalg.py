"""PyTorch's calls for the rows of linear algebra and distances (calls.py has all)."""

import torch

INF = float("inf")
ORDERS = (1, -1, 2, -2, INF, -INF)


def eye_of(x):
    return torch.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)


def regular(x):
    """x with 4 added to the diagonal, so that it is well-conditioned."""
    return x + 4 * eye_of(x)


def swapping(x):
    """x with 4 added to the other diagonal, so that its rows are swapped."""
    return x + 4 * eye_of(x).flip(1)


def positive(x):
    return regular(regular(x + x.mT))


def symmetric(x):
    """A symmetric matrix whose eigenvalues are far apart."""
    diagonal = 2 * torch.arange(1, 2 * x.shape[-1] + 1, 2, dtype=x.dtype)
    return (x + x.mT) * 0.5 + diagonal.diag_embed()


def other_solves(x, b):
    a = regular(x)
    solve = torch.linalg.lu_solve
    (lu, pivots), (lu_t, pivots_t) = torch.linalg.lu_factor(a), torch.linalg.lu_factor(a.mT)
    return (torch.linalg.solve_ex(a.mT, b.mT, left=False)[0].mT, solve(lu, pivots, b),
            solve(lu_t, pivots_t, b, adjoint=True), solve(lu_t, pivots_t, b.mT, left=False).mT,
            solve(lu, pivots, b.mT, left=False, adjoint=True).mT, b.lu_solve(lu, pivots))


def triangular(upper, left, unit):
    return lambda a, b: torch.linalg.solve_triangular(
        regular(a), b, upper=upper, left=left, unitriangular=unit)


def old_triangular(b, x):
    a = regular(x)
    return (b.triangular_solve(a)[0], b.triangular_solve(a, False, True)[0],
            torch.triangular_solve(b, a)[1])


def determinants(x):
    sign, logarithm = torch.linalg.slogdet(swapping(x))
    return torch.linalg.det(swapping(x)), regular(x).logdet(), logarithm, sign


def cholesky(x):
    a = positive(x)
    return torch.linalg.cholesky(a), torch.linalg.cholesky_ex(a, upper=True)[0].mT


def cholesky_solve(b, x):
    # PyTorch's derivative is not 0 in the triangle that the functions do not read.
    l = regular(x).tril()
    return (b.cholesky_solve(l), torch.cholesky_solve(b, l.mT, True), l.cholesky_inverse(),
            torch.cholesky_inverse(l.mT, True))


def inverses(x):
    a = regular(x)
    return a.inverse(), torch.linalg.inv_ex(a)[0], a.matrix_power(-1)


def svd_parts(u, s, v):
    """The parts of a decomposition that do not depend on the vectors' signs."""
    return s, u * u, v * v, u[..., :1] * v[..., :1].mT


def svd(x):
    a = regular(x)
    u, s, vh = torch.linalg.svd(a, full_matrices=False)
    return svd_parts(u, torch.linalg.svdvals(a), vh.mT)


def eigh(x):
    w, v = torch.linalg.eigh(symmetric(x), "U")
    return w, v * v, torch.linalg.eigvalsh(symmetric(x))


def eig_of_triangular(x):
    """The sorted eigenvalues of a triangular matrix, twice, and A V - V diag(w), which is 0."""
    a = x.triu(1) + torch.arange(1, x.shape[-1] + 1, dtype=x.dtype).diag_embed()
    w, v = torch.linalg.eig(a)
    residual = a @ v.real - v.real * w.real.unsqueeze(-2)
    return w.real.sort()[0], torch.linalg.eigvals(a).real.sort()[0], residual


def ldl(x, b):
    """A times the solution of A y = b, which is b."""
    x, b = x.detach(), b.detach()
    a = regular(x + x.mT)
    y = torch.linalg.ldl_solve(*torch.linalg.ldl_factor(a), b)
    return (a.unsqueeze(-1) * y.unsqueeze(-3)).sum(-2)  # A y without autocast


def lstsq(driver):
    return lambda a, b: torch.linalg.lstsq(regular(a), b, driver=driver)[0]


def pinv(x):
    a = regular(x)
    return torch.linalg.pinv(a), a.pinverse(), torch.linalg.pinv(a, rtol=1e-6)


def matrix_norms(x):
    a = regular(x)
    return (*(torch.linalg.matrix_norm(a, order) for order in ORDERS), torch.linalg.matrix_norm(a),
            torch.linalg.matrix_norm(a.mT, "nuc", (-1, -2)), torch.nuclear_norm(a, (-2, -1)),
            torch.frobenius_norm(a, (-2, -1)))


def condition(a, order):
    if order in (None, 2, -2, "nuc"):
        return torch.linalg.cond(a, order)
    # The backward of torch.linalg.cond fails for the other orders.
    return torch.linalg.matrix_norm(a, order) * torch.linalg.matrix_norm(a.inverse(), order)


def conditions(x):
    return [condition(regular(x), order) for order in (None, *ORDERS, "fro", "nuc")]


def tensor_inverses(x, b):
    a = regular(x.reshape(6, 6)).reshape(2, 3, 6)
    return (torch.linalg.tensorinv(a), torch.linalg.tensorsolve(a, b),
            torch.linalg.tensorsolve(a.movedim(2, 0), b, (0,)))


def cdist(p, mode=None):
    return lambda a, b: torch.ops.aten.cdist(a, b, p, mode)


def pdist(p):
    # PyTorch's backward crashes for fewer than two rows, which have no distances.
    return lambda x: torch.pdist(x, p) if len(x) > 1 else x.sum() * x.new_zeros(0)


CALLS = {
    "addmm_scaled": lambda c, a, b: torch.addmm(c, a, b, beta=2, alpha=3),
    "addmm_without_self": lambda c, a, b: torch.addmm(c, a, b, beta=0),
    "addmv": lambda s, m, v: torch.addmv(s, m, v, beta=2, alpha=3),
    "addr": lambda s, a, b: torch.addr(s, a, b, beta=2, alpha=3),
    "baddbmm": lambda s, a, b: torch.baddbmm(s, a, b, beta=2, alpha=3),
    "addbmm": lambda s, a, b: torch.addbmm(s, a, b, beta=2, alpha=3),
    "cross": lambda a, b: torch.cross(a, b, dim=-1),
    "einsum_matmul": lambda a, b: torch.einsum("ij,jk->ik", a, b),
    "einsum_implicit": lambda a, b: torch.einsum("cb,ba", a, b),
    "einsum_ellipsis": lambda a, b: torch.einsum("...ij,...jk->...ik", a, b),
    "linalg_inv": lambda x: torch.linalg.inv(regular(x)),
    "linalg_solve": lambda a, b: torch.linalg.solve(regular(a), b),
    "linalg_solve_vectors": lambda a, b: torch.linalg.solve(regular(a), b),
    "linalg_other_solves": other_solves,
    "linalg_solve_triangular_upper": triangular(True, True, False),
    "linalg_solve_triangular_lower_unit": triangular(False, True, True),
    "linalg_solve_triangular_upper_right_unit": triangular(True, False, True),
    "linalg_solve_triangular_lower_right": triangular(False, False, False),
    "triangular_solve": old_triangular,
    "linalg_det": determinants,
    "linalg_cholesky": cholesky,
    "cholesky_solve": cholesky_solve,
    "inverse": inverses,
    "linalg_lu": lambda x: torch.linalg.lu(swapping(x)),
    "linalg_qr": lambda x: torch.linalg.qr(swapping(x)),
    "linalg_qr_complete": lambda x: torch.linalg.qr(swapping(x), "complete"),
    "linalg_householder_product": lambda a, tau: (torch.linalg.householder_product(a, tau), a.orgqr(tau)),
    "geqrf": lambda x: swapping(x).geqrf()[0].triu(),
    "linalg_svd": svd,
    "svd": lambda x: svd_parts(*regular(x).svd()),
    "linalg_eigh": eigh,
    "linalg_eig": eig_of_triangular,
    "linalg_ldl": ldl,
    "linalg_pinv": pinv,
    "linalg_matrix_rank": lambda x: (torch.linalg.matrix_rank(regular(x)), torch.linalg.matrix_rank(x, tol=1e6)),
    "linalg_matrix_norm": matrix_norms,
    "linalg_cond": conditions,
    "linalg_matrix_exp": lambda x: (x.matrix_exp(), torch.linalg.matrix_exp(x)),
    "linalg_tensorinv": tensor_inverses,
    "cdist_2": cdist(2, 2),
    "cdist_product": cdist(2, 1),
    "cdist_0": cdist(0),
    "cdist_1": cdist(1),
    "cdist_between": cdist(1.5),
    "cdist_3": cdist(3),
    "cdist_inf": cdist(INF),
}
CALLS |= {"linalg_lstsq_" + driver: lstsq(driver) for driver in ("gels", "gelsy", "gelsd", "gelss")}
CALLS |= {
    "pdist_" + name: pdist(p)
    for name, p in (("2", 2), ("0", 0), ("1", 1), ("half", 0.5), ("inf", INF))
}
