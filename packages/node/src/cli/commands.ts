import type { Command } from './command.ts';
import { cost } from './cost.ts';
import { doctor } from './doctor.ts';
import { passwd } from './passwd.ts';
import { probe } from './probe.ts';
import { pub } from './pub.ts';
import { serve } from './serve.ts';
import { sub } from './sub.ts';
import { token } from './token.ts';

/** The commands of `apus`, in the order of its help. */
export const COMMANDS: readonly Command[] = [serve, pub, sub, passwd, token, cost, probe, doctor];
