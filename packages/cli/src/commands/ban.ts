import type { Operator } from '../operate/operator.ts';
import type { Command } from './command.ts';
import { durationFrom } from './duration.ts';
import { type Flags, UsageError, type Values } from './flags.ts';
import { BROKER_FLAGS, operating, operatorFrom, WHO_FLAGS, whoFrom } from './operate-flags.ts';
import { printLine } from './print.ts';

/** A longer time means for ever. */
const FOR_MAX = '3650d';

const BAN: Flags = {
  for: { value: 'TIME', help: 'How long the ban lasts: 30s, 15m, 12h, 7d.', default: 'until `apus unban`' },
  reason: { value: 'TEXT', help: 'The reason, shown in the list of bans. The client does not see it.' },
  by: { value: 'NAME', help: 'The name of the operator, shown in the list of bans.' },
  'issued-before': {
    value: 'TIME',
    help: 'With --user: refuses only credentials issued before this time (2026-01-31T12:00:00Z, or `now`), and those without a time of issue.',
  },
};

export const ban: Command = {
  name: 'ban',
  summary: 'Bans a client identifier, a user name, a token or an address.',
  usage:
    '(--client-id ID | --user NAME | --token JTI | --address IP) [--for TIME] [--url URL | --stack NAME]',
  description: [
    'The ban ends matching connections and sessions at once, also sessions without a connection, with their messages and',
    'wills. A ban of an address ends connections of the node door. At the gateway door it refuses handshakes and the next',
    'packet of open connections, and sessions stay. In a deployment a ban takes effect after most of a minute.',
    '',
    'Examples: apus ban --user eve --for 12h --reason spam',
    '          apus ban --token 8f14e45f --stack apus',
    '          apus ban --user anna --issued-before now       # every token that anna has: she fetches a new one',
  ].join('\n'),
  flags: { Whom: WHO_FLAGS, Ban: BAN, Broker: BROKER_FLAGS },
  async run(values) {
    const { as, who } = whoFrom(values, 'ban');
    const request = { as, who, ...termsFrom(values) };
    const operator = operatorFrom(values);
    printLine(sentenceOf(await operating(() => operator.ban(request))));
    return 0;
  },
};

function termsFrom(values: Values) {
  const [duration, reason, by] = [values.text('for'), values.text('reason'), values.text('by')];
  const issuedBefore = values.text('issued-before');
  if (issuedBefore !== undefined && !values.isSet('user'))
    throw new UsageError('--issued-before goes with --user.');
  return {
    ...(duration !== undefined && { until: timeIn(durationFrom('for', duration, FOR_MAX)) }),
    ...(reason !== undefined && { reason }),
    ...(by !== undefined && { by }),
    ...(issuedBefore !== undefined && { issued_before: issuedBefore === 'now' ? timeIn(0) : issuedBefore }),
  };
}

function timeIn(seconds: number): string {
  return new Date(Date.now() + seconds * 1_000).toISOString();
}

function sentenceOf(banned: Awaited<ReturnType<Operator['ban']>>): string {
  const { as, who, until, expelled, is_complete: isComplete = true } = banned;
  const end = until === 'infinity' ? 'until it is taken back' : `until ${until}`;
  const ended = expelled === undefined ? '' : ` Clients that were ended: ${expelled}.`;
  const left = isComplete
    ? ''
    : ' Some may be left: the same command looks again, and the sweep within ten minutes.';
  return `Banned: ${as} "${who}", ${end}.${ended}${left}`;
}
