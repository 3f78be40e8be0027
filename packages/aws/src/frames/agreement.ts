import type { LinkState } from '@apus/broker';
import type { Environment } from '../environment.ts';
import { hashOf, type Ticket } from './tickets.ts';

type Connected = Extract<LinkState, { phase: 'connected' }>;

/** How long after a loss the client may resume its session. Undefined: it has not offered to. */
export function resumeSecondsWith(
  { resumeSeconds }: Pick<Environment, 'resumeSeconds'>,
  offered: readonly string[],
): number | undefined {
  return offered.includes('move') && offered.includes('resume') ? resumeSeconds : undefined;
}

/** The state of a connection with the extensions that client and server have agreed on. */
export function agreedWith(
  environment: Pick<Environment, 'resumeSeconds'>,
  state: Connected,
  offered: readonly string[],
  ticket: Ticket,
): Connected {
  const resumeSeconds = resumeSecondsWith(environment, offered);
  const connection = {
    ...state.connection,
    ...(resumeSeconds !== undefined && { resumeSeconds }),
    ...(offered.includes('close') && { endsByClose: true }),
  };
  return { ...state, connection, ...(offered.includes('move') && { ticket: hashOf(ticket) }) };
}
