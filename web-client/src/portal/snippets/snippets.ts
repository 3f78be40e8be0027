import { javascript } from './javascript.ts';
import { python } from './python.ts';
import { react } from './react.ts';
import { shell } from './shell.ts';
import type { Language, Snippets, Wanted } from './snippet.ts';

const WRITERS: Readonly<Record<Language, (wanted: Wanted) => Snippets | undefined>> = {
  javascript,
  react,
  python,
  shell,
};

/** The programs of a language that receive from a topic and publish to it. Undefined: not at this door. */
export function snippetsFor(language: Language, wanted: Wanted): Snippets | undefined {
  return WRITERS[language](wanted);
}
