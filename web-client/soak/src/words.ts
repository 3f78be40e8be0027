export function milliseconds(value: number): string {
  return `${(Math.round(value * 10) / 10).toLocaleString('en')} ms`;
}

export function mebibytes(bytes: number): string {
  return `${(Math.round((bytes / 1024 / 1024) * 10) / 10).toLocaleString('en')} MiB`;
}

export function count(value: number): string {
  return value.toLocaleString('en');
}

/** A table in Markdown; the first row is its head, the first column names the rows. */
export function markdownTable([head = [], ...rows]: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
  const rule = head.map((_, index) => (index === 0 ? '---' : '--:'));
  return [line(head), line(rule), ...rows.map(line)].join('\n');
}
