import type { Flag, Flags } from './flags.ts';

const LINE_LENGTH = 96;
const INDENT = '      ';

/** Flags under headings, each with its help and its default. */
export function helpOfFlags(groups: Readonly<Record<string, Flags>>): string {
  return Object.entries(groups)
    .map(([title, flags]) => [`${title}:`, ...Object.entries(flags).map(helpOfFlag)].join('\n'))
    .join('\n\n');
}

function helpOfFlag([name, flag]: readonly [string, Flag]): string {
  const short = flag.short === undefined ? '' : `-${flag.short}, `;
  const value = flag.value === undefined ? '' : ` ${flag.value}`;
  const preset = flag.default === undefined ? '' : ` Default: ${shown(flag.default)}.`;
  return [`  ${short}--${name}${value}`, ...wrapped(`${flag.help}${preset}`)].join('\n');
}

/** Large numbers are formatted for people: 1048576 is 1,048,576. */
function shown(preset: string | number): string {
  return typeof preset === 'number' ? preset.toLocaleString('en') : preset;
}

function wrapped(text: string): string[] {
  const lines: string[] = [];
  let line = INDENT;
  for (const word of text.split(' ')) {
    if (line.length + word.length + 1 > LINE_LENGTH) {
      lines.push(line.trimEnd());
      line = INDENT;
    }
    line += `${word} `;
  }
  return [...lines, line.trimEnd()];
}
