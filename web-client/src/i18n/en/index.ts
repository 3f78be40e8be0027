import { app } from './app.ts';

/**
 * Every string that people read, by area. A feature keeps its own beside its code (`features/<name>/strings.ts`) and
 * is added here, so that a translation is one file of the same shape.
 */
export const en = {
  app,
} as const;
