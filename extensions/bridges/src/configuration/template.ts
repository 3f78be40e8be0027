import type { Fields } from '@apus/identity';

/** A text with placeholders in braces, such as `prices/{key}`. */
export interface Template {
  readonly text: string;
  /** The placeholders in it, in their order. */
  readonly names: readonly string[];
}

const PLACEHOLDER = /\{([^{}]*)\}/g;

/** @param allows returns whether a placeholder of this name exists */
export function templateOf(
  fields: Fields,
  name: string,
  text: string,
  allows: (placeholder: string) => boolean,
  known: string,
): Template {
  const names = [...text.matchAll(PLACEHOLDER)].map(([, placeholder = '']) => placeholder);
  const unknown = names.find((placeholder) => !allows(placeholder));
  if (unknown !== undefined) fields.fail(name, `has no placeholder {${unknown}}: there are ${known}.`);
  if (/[{}]/.test(text.replaceAll(PLACEHOLDER, ''))) fields.fail(name, 'has a brace that is not closed.');
  return { text, names };
}

/** Fills in `{topic}` and `{1}`, `{2}`, … from the topic of a message. */
export function filledByTopic(template: Template, topic: string): string {
  const levels = topic.split('/');
  return filled(template, (name) => (name === 'topic' ? topic : (levels[Number(name) - 1] ?? '')));
}

export function filled({ text }: Template, fill: (placeholder: string) => string): string {
  return text.replaceAll(PLACEHOLDER, (_, placeholder: string) => fill(placeholder));
}
