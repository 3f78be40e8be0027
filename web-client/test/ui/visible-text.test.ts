import { expect, test } from 'vitest';
import { visibleText } from '../../src/ui/visible-text.ts';

test.each([
  ['home/kitchen/light level', 'home/kitchen/light level'],
  ['küche/温度/🌡️', 'küche/温度/🌡️'],
  ['a\u202Eb', 'a\\u{202e}b'],
  ['a\u200B/b', 'a\\u{200b}/b'],
  ['a\u2067b\u2069', 'a\\u{2067}b\\u{2069}'],
  ['a\u00A0b\u3000', 'a\\u{a0}b\\u{3000}'],
  ['tab\there', 'tab\\u{9}here'],
  ['\u{E0041}tag', '\\u{e0041}tag'],
  [`a${'\u0301'.repeat(10)}`, `a${'\u0301'.repeat(8)}${'\\u{301}'.repeat(2)}`],
])('%j is shown as %s', (text, shown) => {
  expect(visibleText(text)).toBe(shown);
});
