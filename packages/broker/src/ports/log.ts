/** Structured log: `event` is a constant in kebab-case, `fields` survive JSON. */
export interface Log {
  /** Debug lines are written. A caller that would make one up for each message asks first. @default false */
  readonly writesDebug?: boolean;
  debug(event: string, fields?: Readonly<Record<string, unknown>>): void;
  info(event: string, fields?: Readonly<Record<string, unknown>>): void;
  warn(event: string, fields?: Readonly<Record<string, unknown>>): void;
  error(event: string, fields?: Readonly<Record<string, unknown>>): void;
}
