import { containsWildcard, covers, intersects, matches, type QoS } from '@apus/mqtt';
import { fillRules, LITERAL_PREFIX } from './fill-rules.ts';
import type { Authorizer, Identity, PublishTerms, SubscribeTerms } from './ports/index.ts';
import type { Rule } from './rules.ts';

/** The rules of an identity. Undefined: it has none; then an anonymous client may do everything. */
export type RulesOf = (identity: Identity) => readonly Rule[] | undefined;

const EVERY_QOS: readonly QoS[] = [0, 1, 2];

/** The rules of an identity with its names filled in. */
interface Filled {
  readonly rules: readonly Rule[];
  readonly clientId: string;
  readonly filled: readonly Rule[];
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

  #fill(rules: readonly Rule[], identity: Identity, clientId: string): readonly Rule[] {
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
  rules: readonly Rule[],
  topicName: string,
  { qos, retain }: PublishTerms,
): boolean | undefined {
  for (const rule of rules) {
    if (rule.action === 'subscribe' || !isForQos(rule, qos)) continue;
    if (rule.retain !== undefined && rule.retain !== retain) continue;
    for (const filter of rule.topicFilters) {
      if (isLiteral(filter) ? isLiterally(filter, topicName) : matches(filter, topicName))
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
  rules: readonly Rule[],
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
  rules: readonly Rule[],
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

function isForQos({ qos }: Rule, asked: QoS): boolean {
  return qos === undefined || qos.includes(asked);
}

function isForShareGroup({ share }: Rule, shareGroup: string | undefined): boolean {
  if (share === undefined) return true;
  if (typeof share === 'boolean') return share === (shareGroup !== undefined);
  return shareGroup !== undefined && share.includes(shareGroup);
}

/** Whether a filter of a rule applies to the requested topic or filter. */
type Applies = (filter: string, requested: string) => boolean;

function coversAll(filter: string, requested: string): boolean {
  return isLiteral(filter) ? isLiterally(filter, requested) : covers(filter, requested);
}

function brings(filter: string, topicName: string): boolean {
  return matches(isLiteral(filter) ? literalOf(filter) : filter, topicName);
}

function hasSome(filter: string, requested: string): boolean {
  if (!isLiteral(filter)) return intersects(filter, requested);
  const literal = literalOf(filter);
  // A literal filter without wildcards names a topic, which a wider filter would reach as well.
  return containsWildcard(literal) ? literal === requested : intersects(literal, requested);
}

function isLiteral(filter: string): boolean {
  return filter.startsWith(LITERAL_PREFIX);
}

function isLiterally(filter: string, requested: string): boolean {
  return filter.length === LITERAL_PREFIX.length + requested.length && filter.endsWith(requested);
}

function literalOf(filter: string): string {
  return filter.slice(LITERAL_PREFIX.length);
}
