/** The part of Artillery that an engine uses. */

/** The context of a virtual user from step to step. */
export interface Context {
  readonly vars: Record<string, unknown>;
  readonly funcs: Readonly<Record<string, (...args: readonly unknown[]) => unknown>>;
}

/** The receiver of an engine's metrics; Artillery's reports are made of them. */
export interface Events {
  emit(event: 'started'): unknown;
  emit(event: 'counter', name: string, value: number): unknown;
  emit(event: 'rate', name: string): unknown;
  emit(event: 'histogram', name: string, milliseconds: number): unknown;
  emit(event: 'error', code: string): unknown;
}

/** Artillery's own way to fill `{{ variables }}` in and to wait. */
export interface Helpers {
  template(value: unknown, context: Context): unknown;
  createThink(
    step: object,
    defaults: object,
  ): (context: Context, callback: (error?: Error | null) => void) => void;
}

/** A function of the script's processor, with a callback or a promise. */
export type ProcessorFunction = (context: Context, events: Events, done: (error?: Error) => void) => unknown;

/** A test script in the form that the runner passes. */
export interface Script {
  readonly config: {
    readonly target?: string;
    readonly engines?: { readonly mqtt?: unknown };
    readonly defaults?: { readonly think?: object };
    readonly processor?: Readonly<Record<string, ProcessorFunction>>;
  };
}

export interface ScenarioSpec {
  readonly name?: string;
  readonly flow: readonly unknown[];
}

export type VirtualUserFunction = (
  context: Context,
  callback: (error: Error | null, context: Context) => void,
) => void;
