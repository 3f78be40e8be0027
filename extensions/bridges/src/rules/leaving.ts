import type { Message } from '@apus/broker';
import { withHop } from '../hops.ts';
import type { RuleConfiguration } from './configuration/rules.ts';

/** The reason why a message that matches the filter is not sent, in the words of the API. */
export type Stays = 'filtered' | 'condition_failed' | 'looped';

/** The message in the target's form, or the reason why it is not sent. */
export function leavingOf(
  { when, hopsMax }: Pick<RuleConfiguration, 'when' | 'hopsMax'>,
  message: Message,
): Message | Stays {
  const verdict = when?.condition(message) ?? true;
  if (verdict !== true) return verdict === false ? 'filtered' : 'condition_failed';
  const userProperties = withHop(message.properties.userProperties, hopsMax);
  if (userProperties === undefined) return 'looped';
  return { ...message, properties: { ...message.properties, userProperties } };
}
