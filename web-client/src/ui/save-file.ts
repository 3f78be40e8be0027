/** Passes a file to the browser, which asks where to save it or saves it among the downloads. */
export function saveBlob(name: string, blob: Blob): void {
  const url = URL.createObjectURL(blob);
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  // The browser has read it when the click returns; Safari needs a moment.
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

/** `apus-messages-2026-11-21T10-04-05.json`: no colons, which Windows does not allow. */
export function fileName(what: string, extension: string, at: Date = new Date()): string {
  const time = at.toISOString().slice(0, 19).replaceAll(':', '-');
  return `apus-${what}-${time}.${extension}`;
}
