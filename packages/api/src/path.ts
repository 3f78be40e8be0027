/**
 * The path of a request, as `/clients/:clientid` with its names filled in. The names `.` and `..` stand in the query:
 * a URL has no such part, as `fetch` and proxies resolve it, also where it is percent-encoded.
 */
export function pathWith(
  path: string,
  names: Readonly<Record<string, string>>,
  query: Readonly<Record<string, string>> = {},
): string {
  const asked = new URLSearchParams(query);
  const filled = path.replaceAll(/:(\w+)/g, (_, parameter: string) => {
    const name = names[parameter] ?? '';
    if (name !== '.' && name !== '..') return encodeURIComponent(name);
    asked.set(parameter, name);
    return '';
  });
  return asked.toString() === '' ? filled : `${filled}?${asked}`;
}
