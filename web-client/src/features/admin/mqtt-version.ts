/** The version of MQTT, as its specification is called, by its number in CONNECT. */
export function versionOf(version: number | null): string {
  return version === null ? '–' : ({ 3: '3.1', 4: '3.1.1', 5: '5.0' }[version] ?? String(version));
}
