import { api } from './api.ts';
import { ban } from './ban.ts';
import { bans } from './bans.ts';
import { bridge } from './bridge.ts';
import { clients } from './clients.ts';
import type { Command } from './command.ts';
import { cost } from './cost.ts';
import { doctor } from './doctor.ts';
import { identity } from './identity.ts';
import { importing } from './import.ts';
import { kick } from './kick.ts';
import { passwd } from './passwd.ts';
import { presence } from './presence.ts';
import { probe } from './probe.ts';
import { pub } from './pub.ts';
import { rule } from './rule.ts';
import { serve } from './serve.ts';
import { stream } from './stream.ts';
import { sub } from './sub.ts';
import { tenant } from './tenant.ts';
import { token } from './token.ts';
import { topics } from './topics.ts';
import { unban } from './unban.ts';
import { usage } from './usage.ts';
import { user } from './user.ts';

/** The commands of `apus`, in the order of its help. */
export const COMMANDS: readonly Command[] = [
  serve,
  pub,
  sub,
  passwd,
  user,
  tenant,
  usage,
  token,
  identity,
  importing,
  cost,
  probe,
  doctor,
  clients,
  kick,
  ban,
  unban,
  bans,
  stream,
  presence,
  topics,
  api,
  bridge,
  rule,
];
