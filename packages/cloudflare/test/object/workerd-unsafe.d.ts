declare module 'workerd:unsafe' {
  const unsafe: { evict(stub: unknown, options: { webSockets: 'hibernate' | 'close' }): Promise<void> };
  // biome-ignore lint/style/noDefaultExport: the runtime's module has it
  export default unsafe;
}
