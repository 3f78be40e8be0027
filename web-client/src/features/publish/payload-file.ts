import type { Draft } from '../../state/draft.ts';
import { textOf } from './draft-request.ts';

/** A file that becomes a payload: what the node door takes as the largest packet by default. */
export const PAYLOAD_FILE_BYTES_MAX = 2 * 1024 * 1024;

/** The bytes of a file for the editor, byte for byte; undefined where it is too large. */
export async function payloadOfFile(file: Blob): Promise<Pick<Draft, 'payload' | 'format'> | undefined> {
  if (file.size > PAYLOAD_FILE_BYTES_MAX) return undefined;
  return textOf(new Uint8Array(await file.arrayBuffer()));
}
