import { ReasonCode, type SubscribePacket, Violation } from '@apus/mqtt';
import type { Context } from '../context.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Link } from '../model/link.ts';

/** The user property of a SUBSCRIBE with the condition of its subscriptions: only messages that fit are sent. */
export const WHERE_PROPERTY = 'where';

/**
 * The condition of all filters of a SUBSCRIBE. A `Violation` has the reason code for SUBACK, and does not end the
 * connection.
 */
export function* whereOf(
  { ports: { conditions } }: Context,
  { readers }: Link,
  { properties }: SubscribePacket,
): Flow<string | Violation | undefined> {
  const given = properties.userProperties?.filter(([name]) => name === WHERE_PROPERTY) ?? [];
  const [where] = given.map(([, value]) => value);
  if (where === undefined) return undefined;
  const refuse = (reason: string) => new Violation(ReasonCode.ImplementationSpecificError, reason);
  // Processes that keep nothing between two packets would not know it where they match.
  if (conditions === undefined || readers === undefined)
    return refuse(`${WHERE_PROPERTY} is not granted at this door, which sends each message`);
  if (given.length > 1) return refuse(`a SUBSCRIBE has one ${WHERE_PROPERTY}, for all of its filters`);
  const problem = yield* waitFor(conditions.check(where));
  return problem === undefined ? where : refuse(`${WHERE_PROPERTY} ${problem}`);
}
