import type { Context } from '../context.ts';
import type { AcceptOptions } from '../model/accept-outcome.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Message } from '../model/message.ts';
import type { RetainedLimits } from '../ports/index.ts';

/**
 * Replaces the retained message of the topic [MQTT-3.3.1-5]; an empty payload removes it [MQTT-3.3.1-6]
 * [MQTT-3.3.1-7].
 */
export function* retain(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): Flow<'retained-quota-exceeded' | undefined> {
  const { retained } = context.ports;
  if (message.payload.length === 0) {
    yield* waitFor(retained.delete(tenant, message.topic, message.id));
    return undefined;
  }
  const limits = retainedLimits(context, options);
  const isStored = yield* waitFor(retained.put(tenant, message, limits));
  return isStored ? undefined : overRetainedQuota(context, tenant, message, limits);
}

export function* refusalToRetain(
  context: Context,
  tenant: string,
  message: Message,
  options: AcceptOptions,
): Flow<'retained-quota-exceeded' | undefined> {
  const { retained } = context.ports;
  if (message.payload.length === 0 || retained.hasRoom === undefined) return undefined;
  const limits = retainedLimits(context, options);
  const hasPlace = yield* waitFor(retained.hasRoom(tenant, message, limits));
  return hasPlace ? undefined : overRetainedQuota(context, tenant, message, limits);
}

function retainedLimits({ ports, limits }: Context, { publisher }: AcceptOptions): RetainedLimits {
  const plan = publisher?.identity.plan;
  const messagesMax = planned(plan?.retainedMessagesMax, limits.retainedMessagesMax);
  const bytesMax = planned(plan?.retainedBytesMax, limits.retainedBytesMax);
  return { messagesMax, bytesMax, holder: publisher && ports.holdingQuota?.retainedHolder(publisher) };
}

/** The limit of a plan, of which 0 is no limit. */
function planned(ofPlan: number | undefined, limit: number): number {
  return ofPlan === undefined ? limit : ofPlan || Number.POSITIVE_INFINITY;
}

function overRetainedQuota(
  { ports: { log } }: Context,
  tenant: string,
  { topic }: Message,
  { holder }: RetainedLimits,
): 'retained-quota-exceeded' {
  log.warn('retained-quota-exceeded', { tenant, name: holder?.holder.name, topic });
  return 'retained-quota-exceeded';
}
