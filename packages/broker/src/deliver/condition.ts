import type { Message } from '../model/message.ts';
import type { MatchedFilter, Subscriber, Subscription } from '../model/session.ts';
import type { Conditions, Drops } from '../ports/index.ts';

interface ConditionPorts {
  readonly conditions?: Conditions | undefined;
  readonly drops?: Drops | undefined;
}

/** Whether a subscription has no condition, or the message fits it. */
export function fits(
  { conditions }: ConditionPorts,
  { where }: Pick<Subscription, 'where'>,
  message: Message,
): boolean {
  return where === undefined || conditions?.fits(where, message) === true;
}

/** The same. A message that does not fit is counted. */
export function wants(
  ports: ConditionPorts,
  subscription: Pick<Subscription, 'where'>,
  message: Message,
): boolean {
  if (fits(ports, subscription, message)) return true;
  ports.drops?.addFiltered?.();
  return false;
}

/**
 * The filters without the subscribers whose condition the message does not fit. Nearly always all of them.
 *
 * @param isCounted another call for the message counts it
 */
export function fitting(
  { conditions, drops }: ConditionPorts,
  matched: readonly MatchedFilter[],
  message: Message,
  isCounted: boolean,
): readonly MatchedFilter[] {
  if (!matched.some(isConditional)) return matched;
  const ports = { conditions, drops: isCounted ? undefined : drops };
  const wanting = ({ subscription }: Subscriber) => wants(ports, subscription, message);
  const fit = ({ subscription }: Subscriber) => fits(ports, subscription, message);
  return matched.map((filter) => {
    if (!isConditional(filter)) return filter;
    const { shareGroup, subscribers } = filter;
    if (shareGroup === undefined) return { ...filter, subscribers: subscribers.filter(wanting) };
    // Another member may take it. If there is none, the group has missed one message.
    const members = subscribers.filter(fit);
    if (members.length === 0) ports.drops?.addFiltered?.();
    return { ...filter, subscribers: members };
  });
}

/** Deliveries that take as long as what conditions have evaluated so far [SEC-WORK-11]. */
export function spentOn({ conditions }: ConditionPorts): number {
  return conditions?.spent ?? 0;
}

function isConditional({ conditions }: MatchedFilter): boolean {
  return conditions !== undefined;
}
