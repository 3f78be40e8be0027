// Finds the numbers of statements in TypeScript: anywhere in code, but only in the titles of tests.

const ID = /\bMQTT3?-\d+\.\d+\.\d+-\d+\b/g;
const CALL = /(?<![.\w$])(describe|suite|it|test)((?:\s*\.\s*\w+)*)\s*(?:<[^()]*>)?\s*(?=\()/g;

/** @param {string} text @returns {string[]} */
export const idsIn = (text) => text.match(ID) ?? [];

/**
 * Text in square brackets that looks like a number, but is none: `[MQTT-3.1.2.11]`.
 * @param {string} text
 * @returns {string[]}
 */
export const misspeltIn = (text) =>
  (text.match(/\[MQTT3?-\d+\.[^\]\n]*\]/g) ?? []).filter((found) => /MQTT|\d/.test(found.replace(ID, '')));

/**
 * The ids in the titles of a test file's tests. A title of `describe` counts when its block has a test; what is
 * skipped, still to do or expected to fail proves nothing, and neither does a comment.
 * @param {string} source
 * @param {(text: string) => string[]} find the ids in a text
 * @returns {Set<string>}
 */
export function idsInTitles(source, find = idsIn) {
  const bare = mask(source);
  const calls = [...bare.matchAll(CALL)].map((match) => {
    let open = match.index + match[0].length;
    let close = closing(bare, open);
    // it.each(rows)(title, …): the title is in the second pair of parentheses.
    const next = bare.slice(close + 1).search(/\S/);
    if (next >= 0 && bare[close + 1 + next] === '(') {
      open = close + 1 + next;
      close = closing(bare, open);
    }
    const block = match[1] === 'describe' || match[1] === 'suite';
    return { block, off: /\.\s*(skip|todo|fails)\b/.test(match[2]), open, close };
  });
  const live = calls.filter((call) => !calls.some((other) => other.off && contains(other, call)));
  const proving = live.filter(
    (call) => !call.block || live.some((other) => !other.block && other !== call && contains(call, other)),
  );
  return new Set(
    proving.flatMap((call) => find(source.slice(call.open, endOfArgument(bare, call.open, call.close)))),
  );
}

/** @typedef {{ open: number, close: number }} Range */

/** @param {Range} outer @param {Range} inner */
const contains = (outer, inner) => outer.open <= inner.open && inner.close <= outer.close;

/** The place of the bracket that closes the one at `open`. @param {string} bare @param {number} open */
function closing(bare, open) {
  let depth = 0;
  for (let at = open; at < bare.length; at += 1) {
    if ('([{'.includes(bare[at])) depth += 1;
    if (')]}'.includes(bare[at])) depth -= 1;
    if (depth === 0) return at;
  }
  return bare.length;
}

/** Where the first argument of a call ends. @param {string} bare @param {number} open @param {number} close */
function endOfArgument(bare, open, close) {
  for (let at = open + 1; at < close; at += 1) {
    if (bare[at] === ',') return at;
    if ('([{'.includes(bare[at])) at = closing(bare, at);
  }
  return close;
}

/** The source with comments, strings and regular expressions blanked, every character in its place. @param {string} source */
function mask(source) {
  let bare = '';
  while (bare.length < source.length) {
    const at = bare.length;
    const end = endOfToken(source, at, bare);
    bare += end > at ? source.slice(at, end).replace(/[^\n]/g, ' ') : source[at];
  }
  return bare;
}

const TOKENS = [
  /\/\/[^\n]*/y,
  /\/\*[\s\S]*?(?:\*\/|$)/y,
  /'(?:\\[\s\S]|[^'\\\n])*'?/y,
  /"(?:\\[\s\S]|[^"\\\n])*"?/y,
];
const REGULAR_EXPRESSION = /\/(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^\\[/\n])+\//y;
const BEFORE_REGULAR_EXPRESSION = /(?:^|[(,=:[!&|?{};+>]|\breturn)\s*$/;

/**
 * The end of the comment, string or regular expression that begins at `at`; `at` itself where none begins.
 * @param {string} source
 * @param {number} at
 * @param {string} before what precedes it, masked
 * @returns {number}
 */
function endOfToken(source, at, before) {
  if (source[at] === '`') return endOfTemplate(source, at);
  for (const token of [...TOKENS, REGULAR_EXPRESSION]) {
    if (token === REGULAR_EXPRESSION && !BEFORE_REGULAR_EXPRESSION.test(before.slice(-40))) continue;
    token.lastIndex = at;
    if (token.test(source)) return token.lastIndex;
  }
  return at;
}

/** The end of the template that begins at `at`, with the code inside it. @param {string} source @param {number} at */
function endOfTemplate(source, at) {
  let depth = 0;
  for (let next = at + 1; next < source.length; next += 1) {
    if (depth === 0 && source[next] === '`') return next + 1;
    if (source[next] === '\\') next += 1;
    else if (depth === 0 && source.startsWith('${', next)) [depth, next] = [1, next + 1];
    else if (depth > 0) {
      if (source[next] === '{') depth += 1;
      if (source[next] === '}') depth -= 1;
      next = Math.max(next, endOfToken(source, next, source.slice(0, next)) - 1);
    }
  }
  return source.length;
}
