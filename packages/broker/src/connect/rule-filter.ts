import { parseShared, Violation, validateTopicFilter } from '@apus/mqtt';
import { LITERAL_PREFIX, PLACEHOLDER } from './fill-rules.ts';

/** Text that looks like one of EMQX's placeholders. */
const PLACEHOLDER_LIKE = /\$\{[^/]*/;

/** The reason why the text is not a topic filter of a rule, in a sentence, or undefined. */
export function ruleFilterProblem(text: string): string | undefined {
  if (text.startsWith(LITERAL_PREFIX)) return validateTopicFilter(text.slice(LITERAL_PREFIX.length))?.reason;
  // A placeholder contains no wildcard and no separator, so it is checked like a name.
  const invalid = validateTopicFilter(text);
  if (invalid !== undefined) return invalid.reason;
  // An unknown placeholder in a denying rule would silently deny nothing.
  const unknown = PLACEHOLDER_LIKE.exec(text.replaceAll(PLACEHOLDER, ''))?.[0];
  if (unknown !== undefined)
    return `${JSON.stringify(unknown)} is no placeholder: there are \${username}, \${clientid}, %u and %c`;
  const shared = parseShared(text);
  if (shared instanceof Violation || shared.shareGroup !== undefined)
    return `A rule has the filter alone, without $share/, and "share" for its groups: ${JSON.stringify(text)}`;
  return undefined;
}
