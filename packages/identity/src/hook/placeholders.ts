import { ConfigurationError } from '../configuration-error.ts';

/** Values of the placeholders in one request. */
export type PlaceholderValues = Readonly<Record<string, string>>;

/** A text with `${name}` in it. */
export type Template = readonly (string | { readonly placeholder: string })[];

const PLACEHOLDER = /\$\{([^}]*)\}/;

/**
 * Reads a text with placeholders in EMQX's form: `${clientid}`, and `${$}` for a dollar sign.
 *
 * @throws {ConfigurationError} for a placeholder that is not in `known`: EMQX sends its name unchanged, which no server
 * understands
 */
export function parseTemplate(text: string, known: readonly string[], where: string): Template {
  // `split` puts the captured names between the texts.
  return text.split(new RegExp(PLACEHOLDER, 'g')).map((part, index) => {
    if (index % 2 === 0) return part;
    if (part === '$') return '$';
    if (known.includes(part)) return { placeholder: part };
    const names = known.map((name) => `\${${name}}`).join(', ');
    throw new ConfigurationError(`${where}: there is no placeholder \${${part}}. There are ${names}.`);
  });
}

/** Fills in the placeholders. One without a value becomes empty, as in EMQX. */
export function renderTemplate(
  template: Template,
  values: PlaceholderValues,
  encode: (value: string) => string = (value) => value,
): string {
  let text = '';
  for (const part of template) {
    text += typeof part === 'string' ? part : encode(values[part.placeholder] ?? '');
  }
  return text;
}

/** Whether a text has a placeholder at all. */
export function hasPlaceholder(text: string): boolean {
  return PLACEHOLDER.test(text);
}
