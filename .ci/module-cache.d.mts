/** Returns a folder for Vitest's transformed sources. */
export function moduleCache(): string;
