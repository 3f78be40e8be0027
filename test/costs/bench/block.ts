/** The part of a page between `<!-- NAME begin -->` and `<!-- NAME end -->`. */
export function blockOf(page: string, name: string): string {
  return partsOf(page, name).block;
}

/** The page with this text instead of the block's. */
export function withBlock(page: string, name: string, text: string): string {
  const { before, after } = partsOf(page, name);
  return `${before}\n\n${text}\n\n${after}`;
}

function partsOf(page: string, name: string) {
  const [begin, end] = [`<!-- ${name} begin -->`, `<!-- ${name} end -->`];
  const from = page.indexOf(begin) + begin.length;
  const to = page.indexOf(end);
  if (from < begin.length || to < from) throw new Error(`The page needs ${begin} and ${end}.`);
  return { before: page.slice(0, from), block: page.slice(from, to), after: page.slice(to) };
}
