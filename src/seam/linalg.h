#pragma once

#include "seam/table.h"
#include "seam/view.h"

namespace hearth {

// Batches of float or double matrices [..., rows, columns]. Unless stated otherwise, each matrix is
// stored column by column without gaps, one matrix after the other, and may have no elements.
// `info`, int32 and contiguous, has one number per matrix: LAPACK's, 0 for success.

/// The factorisation P A = L U in place, with a unit lower triangle L and an upper triangle U.
/// pivots is int32 [..., min(rows, columns)], contiguous: row i was swapped with row pivots[i] - 1.
/// info > 0 if U[info - 1, info - 1] is exactly zero.
struct LuFactorParams {
  View a, pivots, info;
};

/// Swaps rows in place: row i with row pivots[i] - 1, from the first to the last or, if `reversed`,
/// from the last to the first. The pivots are valid row numbers plus one.
struct ApplyPivotsParams {
  View a, pivots;
  bool reversed = false;
};

/// The factorisation A = L L^T, or U^T U if `upper`, in place; reads and writes only the triangle
/// of the factor. info > 0 if the leading minor of order `info` is not positive.
struct CholeskyParams {
  View a, info;
  bool upper = false;
};

/// b = a^-1 b, or a^-T b if `transposed`, in place, for the upper or lower triangle of a, whose
/// diagonal counts as ones if `unit`. a's matrices may also be stored row by row.
struct TriangularSolveParams {
  View a, b;
  bool upper = false, transposed = false, unit = false;
};

/// The factorisation A = Q R in place: R and, below it, the vectors of the reflections that make up
/// Q; tau is [..., min(rows, columns)], contiguous.
struct QrFactorParams {
  View a, tau;
};

/// Replaces q by the first columns of the product of the reflections whose vectors are below q's
/// diagonal; tau is contiguous and has the reflections' factors.
struct HouseholderProductParams {
  View q, tau;
};

/// A = U diag(s) Vh; destroys a. u is [..., rows, k], vh [..., l, columns], s [..., min(rows,
/// columns)] and contiguous; k = rows and l = columns if `full`, else the length of s. Without
/// `vectors`, u and vh are undefined. info = -4 if a has NaN.
struct SvdParams {
  View a, u, s, vh, info;
  bool vectors = true, full = false;
};

/// The eigenvalues w (contiguous) of symmetric matrices; reads only the lower triangle, or the
/// upper one if `upper`. If `vectors`, the eigenvectors replace the matrix.
struct EighParams {
  View a, w, info;
  bool upper = false, vectors = true;
};

/// The eigenvalues w (complex, contiguous) and, if `vectors`, the eigenvectors v (complex) of any
/// square matrices; destroys a.
struct EigParams {
  View a, w, v, info;
  bool vectors = true;
};

/// The factorisation A = L D L^T of symmetric matrices in place; reads and writes only their lower
/// triangles. D is block-diagonal, with blocks of one or two rows. pivots is int32 [..., rows],
/// contiguous, and LAPACK's (sytrf). info > 0 if D[info - 1, info - 1] is exactly zero.
struct LdlFactorParams {
  View a, pivots, info;
};

/// b = a^-1 b in place, where a and pivots are LdlFactor's results.
struct LdlSolveParams {
  View a, pivots, b;
};

/// The algorithms for least squares: LAPACK's gels, gelsy, gelsd and gelss.
enum class LeastSquaresDriver : int8_t { kQr, kPivotedQr, kDivideAndConquer, kSvd };

/// X with the smallest |A X - B|, in place of b [..., max(rows, columns), right-hand sides];
/// destroys a. rank is int64, s [..., min(rows, columns)]; either may be undefined if the driver
/// does not compute it. Singular values up to rcond times the largest count as zero.
struct LeastSquaresParams {
  View a, b, rank, s, info;
  double rcond = 0;
  LeastSquaresDriver driver = LeastSquaresDriver::kPivotedQr;
};

}  // namespace hearth
