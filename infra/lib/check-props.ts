import { type BrokerLimits, DEFAULT_LIMITS } from '@apus/broker';
import { validateTopicFilter } from '@apus/mqtt';
import { Token } from 'aws-cdk-lib/core';
import type { IConstruct } from 'constructs';
import type { ApusBrokerProps, Authentication } from './props.ts';
import { checkRange, PropsError } from './props-error.ts';

/** Requests a second that an account may be given; beyond it nobody has been heard of. */
const REQUESTS_PER_SECOND_MAX = 1_000_000;
const QUOTA_HINT =
  'They draw on the requests that an account may make, 10,000 a second unless that was raised.';

/**
 * What can be known to be wrong before anything is deployed.
 *
 * @throws {PropsError}
 */
export function checkProps(scope: IConstruct, props: ApusBrokerProps): void {
  checkNumbers(scope, props);
  checkAuthentication(scope, props.authentication);
  checkDefaultRules(scope, props);
  checkLimits(scope, props.limits ?? {});
  checkNames(scope, props);
}

function checkNumbers(scope: IConstruct, props: ApusBrokerProps): void {
  const rate = { least: 1, most: REQUESTS_PER_SECOND_MAX };
  const { throttle = {}, fanOut = {}, table = {}, breaker } = props;
  checkRange(scope, 'throttle.framesPerSecond', throttle.framesPerSecond, rate);
  checkRange(scope, 'throttle.burstFrames', throttle.burstFrames, rate);
  checkRange(scope, 'fanOut.maxPostsPerSecond', fanOut.maxPostsPerSecond, {
    least: 20,
    most: 100_000,
    hint: QUOTA_HINT,
  });
  checkRange(scope, 'connectTimeoutSeconds', props.connectTimeoutSeconds, { least: 5, most: 600 });
  checkRange(scope, 'deliveriesPerIdentityPerMinuteMax', props.deliveriesPerIdentityPerMinuteMax, {
    least: 0,
    most: Number.MAX_SAFE_INTEGER,
    hint: '0 lifts the limit.',
  });
  checkRange(scope, 'memorySizeMegabytes', props.memorySizeMegabytes, { least: 256, most: 10_240 });
  checkRange(scope, 'reservedConcurrency', props.reservedConcurrency, { least: 1, most: 100_000 });
  checkRange(scope, 'table.warmWriteUnitsPerSecond', table.warmWriteUnitsPerSecond, {
    least: 4_000,
    most: 40_000,
  });
  if (breaker !== false) {
    checkRange(scope, 'breaker.messagesPerMinuteMax', breaker?.messagesPerMinuteMax, {
      least: 1_000,
      most: Number.MAX_SAFE_INTEGER,
      hint: 'To have no breaker, say `breaker: false`.',
    });
  }
}

function checkAuthentication(scope: IConstruct, authentication: Authentication | undefined): void {
  if (typeof authentication !== 'object' || 'secret' in authentication) return;
  const { jwksUrl, issuer } = authentication;
  if (!Token.isUnresolved(jwksUrl) && !(URL.canParse(jwksUrl) && jwksUrl.startsWith('https://'))) {
    throw new PropsError(scope, `authentication.jwksUrl is an https:// URL, not "${jwksUrl}".`);
  }
  if (issuer === '') {
    throw new PropsError(
      scope,
      'authentication.issuer is empty: tokens of anybody who shares the keys would be accepted.',
    );
  }
}

function checkDefaultRules(
  scope: IConstruct,
  { authentication, tokenDefaultRules: rules }: ApusBrokerProps,
): void {
  if (rules === undefined) return;
  if (authentication === 'anonymous') {
    const reason = 'is for tokens, and with authentication: anonymous nobody shows one.';
    throw new PropsError(scope, `tokenDefaultRules ${reason}`);
  }
  for (const action of ['publish', 'subscribe'] as const) {
    for (const filter of rules[action] ?? []) {
      const invalid = Token.isUnresolved(filter) ? undefined : validateTopicFilter(filter);
      if (invalid !== undefined)
        throw new PropsError(scope, `tokenDefaultRules.${action}: ${invalid.reason}.`);
    }
  }
}

function checkLimits(scope: IConstruct, limits: Partial<BrokerLimits>): void {
  for (const [name, value] of Object.entries(limits)) {
    const preset = (DEFAULT_LIMITS as unknown as Readonly<Record<string, unknown>>)[name];
    if (preset === undefined) {
      const known = Object.keys(DEFAULT_LIMITS).join(', ');
      throw new PropsError(scope, `limits.${name} is no limit of the broker. There are ${known}.`);
    }
    if (typeof preset === 'number') {
      checkRange(scope, `limits.${name}`, Number(value), { least: 0, most: Number.MAX_SAFE_INTEGER });
    } else if (value !== 'drop-oldest' && value !== 'drop-newest') {
      throw new PropsError(scope, `limits.${name} is drop-oldest or drop-newest, not ${String(value)}.`);
    }
  }
}

function checkNames(scope: IConstruct, { domain, alarms, metricsNamespace }: ApusBrokerProps): void {
  const name = domain?.domainName;
  if (
    name !== undefined &&
    !Token.isUnresolved(name) &&
    !/^(?=.{1,253}$)([a-z0-9-]+\.)+[a-z]{2,}$/.test(name)
  ) {
    throw new PropsError(scope, `domain.domainName is a host name as mqtt.example.com, not "${name}".`);
  }
  const email = alarms === false ? undefined : alarms?.email;
  if (email !== undefined && !Token.isUnresolved(email) && !/^\S+@\S+$/.test(email)) {
    throw new PropsError(scope, `alarms.email is a mail address, not "${email}".`);
  }
  if (metricsNamespace === undefined || Token.isUnresolved(metricsNamespace)) return;
  if (metricsNamespace.startsWith('AWS/') || !/^[\w.\-/#:]{1,255}$/.test(metricsNamespace)) {
    const rule = 'up to 255 letters, digits and . - _ / # :, and does not begin with AWS/';
    throw new PropsError(scope, `metricsNamespace has ${rule}; it is not "${metricsNamespace}".`);
  }
}
