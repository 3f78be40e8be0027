import type { Fields } from '@apus/identity';
import { type Template, templateOf } from '../../configuration/template.ts';

const LEVELS_KNOWN = '{topic}, and {1}, {2}, … for its levels';

/** A text that contains the topic of a message, or levels of it. */
export function topicTemplateOf(fields: Fields, field: string, text: string, filter: string): Template {
  const levels = filter.split('/');
  const allows = (name: string) =>
    name === 'topic' || (/^[1-9]\d?$/.test(name) && (Number(name) <= levels.length || levels.at(-1) === '#'));
  return templateOf(fields, field, text, allows, LEVELS_KNOWN);
}
