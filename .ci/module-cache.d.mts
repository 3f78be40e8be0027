/** A folder for what Vitest has made of the sources. */
export function moduleCache(): string;
