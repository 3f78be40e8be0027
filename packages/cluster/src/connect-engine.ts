import { StartError } from '@apus/node';
import { Engine, EngineError, type EngineOptions } from '@apus/store-valkey';

/** @throws {StartError} when the engine cannot be used: says why, and what to do */
export async function connectEngine(options: EngineOptions): Promise<Engine> {
  try {
    return await Engine.connect(options);
  } catch (error) {
    if (error instanceof EngineError) throw new StartError(error.message, { cause: error });
    throw error;
  }
}
