import { en } from './en/index.ts';
import type { views } from './en/views.ts';

type Texts = typeof en & typeof views;

/** Paths to the texts of a table. A text with a plural has two entries, `…_one` and `…_other`, and one key. */
type Keys<Table> = {
  [Name in keyof Table & string]: Table[Name] extends string
    ? Name extends `${infer Stem}_${'one' | 'other'}`
      ? Stem
      : Name
    : `${Name}.${Keys<Table[Name]>}`;
}[keyof Table & string];

export type TextKey = Keys<Texts>;

interface Table {
  readonly [name: string]: string | Table;
}

let texts: Table = en;

/** The text of a key, with its values in the place of `{{name}}`. `count` chooses between singular and plural. */
export function t(key: TextKey, values: Readonly<Record<string, string | number>> = {}): string {
  const path = key.split('.');
  const last = path.pop() ?? '';
  const table = path.reduce<Table>((inner, name) => inner[name] as Table, texts);
  const text = (table[last] ?? table[`${last}_${values.count === 1 ? 'one' : 'other'}`]) as string;
  return text.replaceAll(/\{\{(\w+)\}\}/g, (placeholder, name: string) =>
    String(values[name] ?? placeholder),
  );
}

/** Adds the texts of the views that come after Messages. */
export async function loadViewStrings(): Promise<void> {
  const { views } = await import('./en/views.ts');
  texts = { ...en, ...views };
}
