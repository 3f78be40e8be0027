/** A URL for a terminal or a log: without its query, which may hold a token, and without a password. */
export function shownUrl(url: string): string {
  const shown = new URL(url);
  if (shown.search !== '') shown.search = '?…';
  if (shown.password !== '') shown.password = '…';
  return decodeURI(shown.href);
}
