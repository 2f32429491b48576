# Reads lines "hearth|peer <name> <best> <median>" of several runs. Prints a table of the best times,
# their ratio and the ratio of the lowest medians. The variables `unit` and `peer` are words of its head.
{
  key = $1 " " $2
  if (!(key in best) || $3 < best[key]) best[key] = $3
  if (!(key in median) || $4 < median[key]) median[key] = $4
  if (!($2 in seen)) { seen[$2]; names[++count] = $2 }
}
END {
  printf "%-18s %10s %10s %7s %12s\n", unit, "Hearth", peer, "ratio", "of medians"
  for (i = 1; i <= count; ++i) {
    n = names[i]
    printf "%-18s %10.1f %10.1f %7.3f %12.3f\n", n, best["hearth " n], best["peer " n],
           best["hearth " n] / best["peer " n], median["hearth " n] / median["peer " n]
  }
}
