import { charted } from '../../features/charts/charted-strings.ts';
import { decode } from '../../features/decode/strings.ts';
import { messages } from '../../features/messages/strings.ts';
import { publish } from '../../features/publish/strings.ts';
import { start } from '../../features/start/strings.ts';
import { subscriptions } from '../../features/subscriptions/strings.ts';
import { app } from './app.ts';
import { connections } from './connections.ts';
import { reasons } from './reasons.ts';
import { troubles } from './troubles.ts';
import { ui } from './ui.ts';

/**
 * The strings that the page shows first, by area: the shell, Start, Messages, and what several views share. Those of the other
 * views are in `views.ts`. A feature keeps its own beside its code (`features/<name>/strings.ts`).
 */
export const en = {
  app,
  charted,
  connections,
  decode,
  messages,
  publish,
  reasons,
  start,
  subscriptions,
  troubles,
  ui,
} as const;
