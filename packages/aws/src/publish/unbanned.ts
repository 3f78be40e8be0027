import { type Ban, banOnCaller, sentenceOf } from '@apus/broker';
import { type Authenticate, type HttpAnswer, problem } from '@apus/door';
import { peerHostOf } from '@apus/identity';
import type { Environment } from '../environment.ts';
import { refreshBans } from '../identity/refresh-bans.ts';

/**
 * Lets in no caller that is banned: by its address before its key is looked at, then by its name or its key's
 * [SEC-BAN-3].
 */
export function unbanned(
  identify: Authenticate,
  environment: Pick<Environment, 'bans' | 'log'>,
): Authenticate {
  const { bans } = environment;
  if (bans === undefined) return identify;
  return async (request) => {
    await refreshBans(environment);
    const host = peerHostOf(request.address);
    const banOnHost = banOnCaller(bans, undefined, host);
    if (banOnHost !== undefined) return refusal(banOnHost);
    const caller = await identify(request);
    if ('status' in caller) return caller;
    const ban = banOnCaller(bans, caller, host);
    return ban === undefined ? caller : refusal(ban);
  };
}

function refusal(ban: Ban): HttpAnswer {
  return problem('FORBIDDEN', `Refused: ${sentenceOf(ban)}.`);
}
