/** A swift, the bird of the genus Apus. */
export function Logo() {
  return (
    <svg width="24" height="24" viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="7" fill="#4263eb" />
      <path d="M4 11c5 0 9 2 12 6 3-4 7-6 12-6-4 2-7 5-8.5 9L16 25l-3.500-5C11 16 8 13 4 11z" fill="#fff" />
    </svg>
  );
}
