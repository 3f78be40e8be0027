import { ReasonCode, Violation } from '@apus/mqtt';
import { mayPublish } from '../connect/authorize.ts';
import type { Context } from '../context.ts';
import { refusalCodeOf, sentenceOf } from '../model/bans.ts';
import { type Flow, waitFor } from '../model/flow.ts';
import type { Publisher } from '../model/identity.ts';
import type { PublishTerms } from '../ports/index.ts';

/**
 * Why a message does not leave that has waited since its publisher was allowed it, as a will and a delayed message do:
 * its publisher is banned, or its rules have changed. The address of its connection is not known any more
 * [SEC-WAY-2] [SEC-RULES-5] [SEC-BAN-3].
 */
export function* lateRefusal(
  context: Context,
  { identity, clientId, asksRules = false }: Publisher,
  topic: string,
  terms: PublishTerms,
): Flow<Violation | undefined> {
  const ban = context.ports.bans?.banOn(identity, clientId, undefined);
  if (ban !== undefined) return new Violation(refusalCodeOf(ban), sentenceOf(ban));
  if (!asksRules || (yield* waitFor(mayPublish(context, identity, clientId, topic, terms)))) return undefined;
  return new Violation(ReasonCode.NotAuthorized, `publishing to ${JSON.stringify(topic)} is not allowed`);
}
