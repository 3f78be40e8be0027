import { containsWildcard, covers, intersects, matches, type QoS } from '@apus/mqtt';
import type { Identity } from '../model/identity.ts';
import type { Rule } from '../model/rules.ts';
import type { Authorizer, PublishTerms, SubscribeTerms } from '../ports/index.ts';
import { type FilledRule, fillRules, type RuleFilter } from './fill-rules.ts';

/** The rules of an identity. Undefined: it has none; then an anonymous client may do everything. */
export type RulesOf = (identity: Identity) => readonly Rule[] | undefined;

const EVERY_QOS: readonly QoS[] = [0, 1, 2];

/** The rules of an identity with its names filled in. */
interface Filled {
  readonly rules: readonly Rule[];
  readonly clientId: string;
  readonly filled: readonly FilledRule[];
}

/**
 * Allows identities what their rules say. It is asked for every message, and allocates nothing once the names are
 * filled in.
 */
export class RulesAuthorizer implements Authorizer {
  readonly #rulesOf: RulesOf;
  /** Cached as long as the identity exists, which is as long as its connection. */
  readonly #filled = new WeakMap<Identity, Filled>();

  constructor(rulesOf: RulesOf) {
    this.#rulesOf = rulesOf;
  }

  mayPublish(identity: Identity, clientId: string, topicName: string, terms: PublishTerms): boolean {
    return this.decidePublish(identity, clientId, topicName, terms) ?? false;
  }

  maySubscribe(identity: Identity, clientId: string, topicFilter: string, terms: SubscribeTerms): boolean {
    return this.decideSubscribe(identity, clientId, topicFilter, terms) ?? false;
  }

  mayReach(
    identity: Identity,
    clientId: string,
    topicFilter: string,
    action: 'publish' | 'subscribe',
  ): boolean {
    const rules = this.#rulesOf(identity);
    if (rules === undefined) return isUnrestricted(identity) ?? false;
    for (const rule of this.#fill(rules, identity, clientId)) {
      if (rule.action !== 'all' && rule.action !== action) continue;
      const applies = rule.effect === 'allow' ? hasSome : coversAll;
      if (rule.topicFilters.some((filter) => applies(filter, topicFilter))) return rule.effect === 'allow';
    }
    return false;
  }

  /** Undefined: no rule applies, and an authorizer may ask elsewhere. */
  decidePublish(
    identity: Identity,
    clientId: string,
    topicName: string,
    terms: PublishTerms,
  ): boolean | undefined {
    const rules = this.#rulesOf(identity);
    if (rules === undefined) return isUnrestricted(identity);
    return mayPublish(this.#fill(rules, identity, clientId), topicName, terms);
  }

  /** Undefined: no rule applies. None denies a topic of the filter, and none allows all of it. */
  decideSubscribe(
    identity: Identity,
    clientId: string,
    topicFilter: string,
    terms: SubscribeTerms,
  ): boolean | undefined {
    const rules = this.#rulesOf(identity);
    if (rules === undefined) return isUnrestricted(identity);
    const filled = this.#fill(rules, identity, clientId);
    const { qos, shareGroup } = terms;
    if (qos !== undefined) return maySubscribe(filled, topicFilter, qos, shareGroup);
    return mayReceive(filled, topicFilter, shareGroup);
  }

  #fill(rules: readonly Rule[], identity: Identity, clientId: string): readonly FilledRule[] {
    const known = this.#filled.get(identity);
    if (known !== undefined && known.rules === rules && known.clientId === clientId) return known.filled;
    const filled = fillRules(rules, { identity, clientId });
    this.#filled.set(identity, { rules, clientId, filled });
    return filled;
  }
}

/** Allows identities what their own rules say. */
export const rulesAuthorizer = new RulesAuthorizer(({ rules }) => rules);

function isUnrestricted({ name }: Identity): true | undefined {
  return name === '' ? true : undefined;
}

function mayPublish(
  rules: readonly FilledRule[],
  topicName: string,
  { qos, retain }: PublishTerms,
): boolean | undefined {
  for (const rule of rules) {
    if (rule.action === 'subscribe' || !isForQos(rule, qos)) continue;
    if (rule.retain !== undefined && rule.retain !== retain) continue;
    for (const filter of rule.topicFilters) {
      if (filter.isLiteral ? filter.text === topicName : matches(filter.text, topicName))
        return rule.effect === 'allow';
    }
  }
  return undefined;
}

/**
 * A filter is allowed only if it matches no topic that an earlier rule denies: else a client could read a denied topic
 * by a filter around it [SEC-RULES-1].
 */
function maySubscribe(
  rules: readonly FilledRule[],
  topicFilter: string,
  qos: QoS,
  shareGroup: string | undefined,
  allows: Applies = coversAll,
): boolean | undefined {
  for (const rule of rules) {
    if (rule.action === 'publish' || !isForQos(rule, qos) || !isForShareGroup(rule, shareGroup)) continue;
    const applies = rule.effect === 'allow' ? allows : hasSome;
    for (const filter of rule.topicFilters) if (applies(filter, topicFilter)) return rule.effect === 'allow';
  }
  return undefined;
}

/** Whether a subscription at some QoS may have brought a message of the topic. */
function mayReceive(
  rules: readonly FilledRule[],
  topicName: string,
  shareGroup: string | undefined,
): boolean | undefined {
  let decision: boolean | undefined = false;
  for (const qos of EVERY_QOS) {
    const atQos = maySubscribe(rules, topicName, qos, shareGroup, brings);
    if (atQos === true) return true;
    if (atQos === undefined) decision = undefined;
  }
  return decision;
}

function isForQos({ qos }: FilledRule, asked: QoS): boolean {
  return qos === undefined || qos.includes(asked);
}

function isForShareGroup({ share }: FilledRule, shareGroup: string | undefined): boolean {
  if (share === undefined) return true;
  if (typeof share === 'boolean') return share === (shareGroup !== undefined);
  return shareGroup !== undefined && share.includes(shareGroup);
}

/** Whether a filter of a rule applies to the requested topic or filter. */
type Applies = (filter: RuleFilter, requested: string) => boolean;

function coversAll({ text, isLiteral }: RuleFilter, requested: string): boolean {
  return isLiteral ? text === requested : covers(text, requested);
}

function brings({ text }: RuleFilter, topicName: string): boolean {
  return matches(text, topicName);
}

function hasSome({ text, isLiteral }: RuleFilter, requested: string): boolean {
  // A literal filter without wildcards names a topic, which a wider filter would reach as well.
  return isLiteral && containsWildcard(text) ? text === requested : intersects(text, requested);
}
