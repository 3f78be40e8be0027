import type { Log } from '@apus/broker';
import { StartError } from '@apus/node';
import { Engine, EngineError, type EngineOptions, type ValkeyStreams } from './store/index.ts';

/** @throws {StartError} when the engine cannot be used */
export async function connectEngine(options: EngineOptions): Promise<Engine> {
  try {
    return await Engine.connect(options);
  } catch (error) {
    if (error instanceof EngineError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}

/** An engine that was started again may have lost something. */
export function keepUp(streams: ValkeyStreams, engine: Engine, log: Log): void {
  const look = () => {
    streams
      .connected()
      .catch((error: unknown) => log.error('stream-engine-unknown', { error: String(error) }));
  };
  engine.onReconnect(look);
  look();
}
