/** The sentence about a query that gives a parameter twice: a reader would take one, and its caller may mean the other. */
export function queryProblem(query: URLSearchParams): string | undefined {
  const seen = new Set<string>();
  for (const name of query.keys()) {
    if (seen.has(name)) return `${name} is given twice.`;
    seen.add(name);
  }
  return undefined;
}
