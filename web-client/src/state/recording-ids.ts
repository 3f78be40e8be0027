/** The prefix of the id of a recording's profile. Ids of other profiles are hexadecimal, or name an endpoint. */
export const RECORDING_PREFIX = 'recording-';

/** Whether the profile stands for a file of messages. It is never stored, and never connected. */
export function isRecording(id: string): boolean {
  return id.startsWith(RECORDING_PREFIX);
}
