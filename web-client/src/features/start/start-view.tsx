export function StartView() {
  return null;
}
