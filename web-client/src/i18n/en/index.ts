import { admin } from '../../features/admin/strings.ts';
import { bench } from '../../features/bench/strings.ts';
import { charts } from '../../features/charts/strings.ts';
import { costs } from '../../features/costs/strings.ts';
import { decode } from '../../features/decode/strings.ts';
import { frames } from '../../features/frames/strings.ts';
import { messages } from '../../features/messages/strings.ts';
import { packets } from '../../features/packets/strings.ts';
import { publish } from '../../features/publish/strings.ts';
import { start } from '../../features/start/strings.ts';
import { subscriptions } from '../../features/subscriptions/strings.ts';
import { transfer } from '../../features/transfer/strings.ts';
import { tree } from '../../features/tree/strings.ts';
import { app } from './app.ts';
import { connections } from './connections.ts';
import { reasons } from './reasons.ts';
import { troubles } from './troubles.ts';
import { ui } from './ui.ts';

/**
 * Every string that people read, by area. A feature keeps its own beside its code (`features/<name>/strings.ts`) and
 * is added here, so that a translation is one file of the same shape.
 */
export const en = {
  admin,
  app,
  bench,
  charts,
  connections,
  costs,
  decode,
  frames,
  messages,
  packets,
  publish,
  reasons,
  start,
  subscriptions,
  transfer,
  tree,
  troubles,
  ui,
} as const;
