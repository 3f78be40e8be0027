import { ReasonCode, Violation } from '@apus/mqtt';
import type { Identity } from './identity.ts';

/** Patterns in one identity: each CONNECT tries all of them. */
export const CLIENT_ID_PATTERNS_MAX = 16;

/** Characters of one pattern. */
export const CLIENT_ID_PATTERN_LENGTH_MAX = 256;

/** By default a named identity may use its name as client identifier, and its name with a suffix. */
const OWN_NAMES: readonly string[] = ['%u', '%u-+'];

/** Client identifiers, and names, of the broker's own clients begin with one of these. */
const OWN_PREFIXES: readonly string[] = ['$bridge/', '$rule/'];

/** The `Identity.source` of the broker's own clients: the operator's file makes their identities, without a credential. */
export const BRIDGES_SOURCE = '$bridges';

/** Stands for one or more characters of any kind. */
const WILDCARD = '+';

/**
 * How firmly a client identifier is bound to an identity. When two identities want one identifier, the firmer bond
 * wins; with equal bonds the existing session does.
 */
export const BindingRank = {
  /** Any identity may use it. */
  None: 0,
  /** A pattern with a wildcard and something beside it matches. */
  Pattern: 1,
  /** A pattern names it. */
  Exact: 2,
} as const;

export type BindingRank = (typeof BindingRank)[keyof typeof BindingRank];

/**
 * How firmly the client identifier is bound to the identity. Undefined: the identity lists its identifiers, and this
 * is none of them.
 */
export function bindingRank(identity: Identity, clientId: string): BindingRank | undefined {
  const { name, clientIds } = identity;
  if (clientIds === undefined)
    return name === '' ? BindingRank.None : (rankAmong(OWN_NAMES, name, clientId) ?? 0);
  return rankAmong(clientIds, name, clientId);
}

/** The reason why the identity may not open this session [SEC-OWNER-3] [SEC-OWNER-5]. */
export function clientIdRefusal(
  identity: Identity,
  clientId: string,
  outlivesConnection: boolean,
): Violation | undefined {
  const { name, clientIds, source } = identity;
  // [SEC-OWNER-5]
  const isOwn = OWN_PREFIXES.some((prefix) => clientId.startsWith(prefix) || name.startsWith(prefix));
  if (isOwn && source !== BRIDGES_SOURCE)
    return new Violation(
      ReasonCode.ClientIdentifierNotValid,
      "client identifiers and names that begin with $bridge/ or $rule/ are the broker's own",
    );
  const rank = bindingRank(identity, clientId);
  if (rank === undefined) {
    return new Violation(
      ReasonCode.ClientIdentifierNotValid,
      `this client identifier is not one of ${name}'s`,
    );
  }
  if (rank > BindingRank.None || clientIds !== undefined || name === '' || !outlivesConnection)
    return undefined;
  const reason = `a session of ${name} that outlives its connection needs the client identifier ${name} or ${name}-…`;
  return new Violation(ReasonCode.ClientIdentifierNotValid, reason);
}

/**
 * A client identifier for a client that left the choice to the server [MQTT-3.1.3-6]. Undefined: no pattern leaves
 * room for one.
 */
export function assignedClientId({ name, clientIds }: Identity, randomId: string): string | undefined {
  if (clientIds === undefined) return name === '' ? randomId : `${name}-${randomId}`;
  const pattern = clientIds.find((each) => each.includes(WILDCARD));
  return pattern && partsOf(pattern, name).join(randomId);
}

function rankAmong(patterns: readonly string[], name: string, clientId: string): BindingRank | undefined {
  let best: BindingRank | undefined;
  for (const pattern of patterns) {
    const parts = partsOf(pattern, name);
    if (!isMatch(parts, clientId)) continue;
    const rank = rankOf(parts);
    if (best === undefined || rank > best) best = rank;
  }
  return best;
}

/** The parts of a pattern between its wildcards. A `+` in the identity's name is no wildcard. */
function partsOf(pattern: string, name: string): readonly string[] {
  return pattern.split(WILDCARD).map((part) => part.replaceAll('%u', () => name));
}

function rankOf(parts: readonly string[]): BindingRank {
  if (parts.length === 1) return BindingRank.Exact;
  return parts.some((part) => part !== '') ? BindingRank.Pattern : BindingRank.None;
}

/** Each wildcard takes as few characters as possible, at least one; the last part stands at the end. */
function isMatch(parts: readonly string[], clientId: string): boolean {
  const [first = '', ...rest] = parts;
  const last = rest.pop();
  if (last === undefined) return clientId === first;
  if (!clientId.startsWith(first)) return false;
  let from = first.length;
  for (const part of rest) {
    const at = clientId.indexOf(part, from + 1);
    if (at < 0) return false;
    from = at + part.length;
  }
  return clientId.length - last.length > from && clientId.endsWith(last);
}
