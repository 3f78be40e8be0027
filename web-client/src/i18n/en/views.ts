import { price } from '../../features/admin/price-strings.ts';
import { admin } from '../../features/admin/strings.ts';
import { charts } from '../../features/charts/strings.ts';
import { presence } from '../../features/presence/strings.ts';
import { transfer } from '../../features/transfer/strings.ts';
import { tree } from '../../features/tree/strings.ts';
import { wire } from '../../features/wire/strings.ts';

/** The strings of the views that come after Messages. The page fetches them with the first of these views. */
export const views = {
  admin,
  charts,
  presence,
  price,
  transfer,
  tree,
  wire,
} as const;
