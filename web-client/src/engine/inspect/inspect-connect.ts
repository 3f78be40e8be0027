import { type FieldReader, shownBinary } from './field.ts';
import { readProperties } from './properties.ts';

/** The bits of Connect Flags (3.1.2.3). */
const Flag = { CleanStart: 0x02, Will: 0x04, WillRetain: 0x20, Password: 0x40, UserName: 0x80 } as const;

/** CONNECT. Passwords are never shown. */
export function inspectConnect(reader: FieldReader): string {
  const nameAt = reader.at;
  reader.note('Protocol Name', reader.text(), nameAt);
  const versionAt = reader.at;
  const version = reader.byte();
  reader.note(
    'Protocol Version',
    version === 5 ? '5 (5.0)' : version === 4 ? '4 (3.1.1)' : String(version),
    versionAt,
  );
  const flagsAt = reader.at;
  const flags = reader.byte();
  reader.note('Connect Flags', flagTexts(flags).join(', ') || 'none', flagsAt);
  const keepAliveAt = reader.at;
  const keepAlive = reader.uint16();
  reader.note('Keep Alive', `${keepAlive} s`, keepAliveAt);
  if (version === 5) readProperties(reader);
  const clientId = noteText(reader, 'Client Identifier');
  if ((flags & Flag.Will) !== 0) readWill(reader, version);
  if ((flags & Flag.UserName) !== 0) noteText(reader, 'User Name');
  if ((flags & Flag.Password) !== 0) {
    const at = reader.at;
    reader.note('Password', `${reader.binary().length} bytes, not shown`, at);
  }
  const start = (flags & Flag.CleanStart) === 0 ? 'keeps its session' : 'clean start';
  return `MQTT ${version === 5 ? '5.0' : '3.1.1'}, ${clientId === '' ? 'no client identifier' : clientId}, ${start}, keep alive ${keepAlive} s`;
}

function flagTexts(flags: number): string[] {
  const will = (flags & Flag.Will) !== 0;
  return [
    ...((flags & Flag.CleanStart) !== 0 ? ['Clean Start'] : []),
    ...(will ? [`Will QoS ${(flags >> 3) & 3}`] : []),
    ...((flags & Flag.WillRetain) !== 0 ? ['Will Retain'] : []),
    ...((flags & Flag.UserName) !== 0 ? ['User Name'] : []),
    ...((flags & Flag.Password) !== 0 ? ['Password'] : []),
  ];
}

function readWill(reader: FieldReader, version: number): void {
  if (version === 5) readProperties(reader, 'Will Properties');
  noteText(reader, 'Will Topic');
  const at = reader.at;
  reader.note('Will Payload', shownBinary(reader.binary()), at);
}

function noteText(reader: FieldReader, name: string): string {
  const at = reader.at;
  const text = reader.text();
  reader.note(name, text === '' ? '(empty)' : text, at);
  return text;
}
