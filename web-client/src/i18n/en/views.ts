import { admin } from '../../features/admin/strings.ts';
import { bench } from '../../features/bench/strings.ts';
import { charts } from '../../features/charts/strings.ts';
import { costs } from '../../features/costs/strings.ts';
import { frames } from '../../features/frames/strings.ts';
import { packets } from '../../features/packets/strings.ts';
import { presence } from '../../features/presence/strings.ts';
import { start } from '../../features/start/strings.ts';
import { transfer } from '../../features/transfer/strings.ts';
import { tree } from '../../features/tree/strings.ts';

/** The strings of the views that come after Messages. The page fetches them with the first of these views. */
export const views = {
  admin,
  bench,
  charts,
  costs,
  frames,
  packets,
  presence,
  start,
  transfer,
  tree,
} as const;
