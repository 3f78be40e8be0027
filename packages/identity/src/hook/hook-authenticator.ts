import { isUtf8 } from 'node:buffer';
import type { Clock, Identity, Log, Refusal } from '@apus/broker';
import { ReasonCode } from '@apus/mqtt';
import { addressGroup, ipOf } from '../address-group.ts';
import type { Answer, ChainAuthenticator, NotMine, Shown } from '../answer.ts';
import type { GuessLimiter } from '../guess-limiter.ts';
import { AnswerError, type HookIdentityDefaults, readAuthentication } from './authentication-answer.ts';
import type { HookAnswer, HookClient } from './hook-client.ts';
import type { RequestTemplate } from './request-template.ts';

/** Placeholders of an authentication's request. Neither door has client certificates: their placeholders are empty. */
export const AUTHENTICATION_PLACEHOLDERS = [
  'clientid',
  'username',
  'password',
  'peerhost',
  'cert_subject',
  'cert_common_name',
] as const;

/** Fails closed: the client has no identity, and may try again [SEC-HOOK-1]. */
const UNAVAILABLE: Refusal = {
  refused: ReasonCode.ServerUnavailable,
  reason: 'The server that knows who may connect does not answer; try again later',
};

/** More logins of this address wait than may, or this one has waited for longer than it may. */
const BUSY: Refusal = {
  refused: ReasonCode.ServerBusy,
  reason: 'Too many logins wait for the server that knows who may connect; try again later',
};

const WRONG_ANSWER: Refusal = {
  refused: ReasonCode.BadUserNameOrPassword,
  reason: 'The user name or the password is wrong',
};

const UNKNOWN: NotMine = { notMine: 'the hook does not know this client' };
const FAILED: NotMine = { notMine: 'the hook has failed', isUndecided: true };

export interface HookAuthenticatorOptions {
  /** The value of `Identity.source`. */
  readonly source: string;
  readonly client: HookClient;
  readonly request: RequestTemplate;
  readonly defaults: HookIdentityDefaults;
  readonly limiter: GuessLimiter;
  readonly clock: Clock;
  readonly log: Log;
}

/** Asks the operator's server about a client, with the requests and answers of EMQX's HTTP authentication. */
export class HookAuthenticator implements ChainAuthenticator {
  readonly source: string;
  /** As in EMQX, the hook decides about a client without a password. */
  readonly isAskedAlways = true;
  readonly #options: HookAuthenticatorOptions;

  constructor(options: HookAuthenticatorOptions) {
    this.source = options.source;
    this.#options = options;
  }

  async authenticate(shown: Shown): Promise<Answer> {
    const { client, request, limiter } = this.#options;
    const { username, address } = shown;
    if (shown.token !== undefined) return { notMine: 'hooks are asked about names and passwords' };
    const refusal = limiter.refusal(username, address);
    if (refusal !== undefined) return refusal;
    const values = valuesOf(shown);
    const rendered = values && request.render(values);
    if (rendered === undefined) return { notMine: 'the hook cannot be asked with these characters' };
    const answer = await client.ask({ request: rendered, holder: addressGroup(address) });
    if (answer === 'busy') return BUSY;
    if (answer === undefined) return UNAVAILABLE;
    const read = this.#read(answer, username);
    if (read === undefined) return hasFailed(answer) ? FAILED : UNKNOWN;
    if ('refused' in read) limiter.wrong(username, address);
    return read;
  }

  #read(answer: HookAnswer, username: string | undefined): Identity | Refusal | undefined {
    const { source, defaults, clock, log } = this.#options;
    try {
      return readAuthentication(answer, username, { ...defaults, source }, clock.now());
    } catch (error) {
      if (!(error instanceof AnswerError)) throw error;
      log.warn('hook-answer-wrong', { hook: source, reason: error.message });
      return WRONG_ANSWER;
    }
  }
}

/** EMQX asks the next authenticator then, too; but the hook has not said no. */
function hasFailed({ status }: HookAnswer): boolean {
  return status >= 500 || status === 429;
}

/** Undefined for a password that is no text: JSON cannot contain it, and EMQX then asks the next authenticator. */
function valuesOf(shown: Shown): Record<string, string> | undefined {
  const { clientId = '', username = '', password = new Uint8Array(), certificate, address } = shown;
  if (!isUtf8(password)) return undefined;
  return {
    clientid: clientId,
    username,
    password: Buffer.from(password).toString('utf8'),
    peerhost: ipOf(address),
    cert_subject: certificate?.subject ?? '',
    cert_common_name: certificate?.commonName ?? '',
  };
}
