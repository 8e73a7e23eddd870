/* EMU_GUARDED: 1 when this is compiled for AddressSanitizer. */
#ifndef EMULATOR_GUARDED_H
#define EMULATOR_GUARDED_H

#if defined(__SANITIZE_ADDRESS__)
#define EMU_GUARDED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMU_GUARDED 1
#endif
#endif
#ifndef EMU_GUARDED
#define EMU_GUARDED 0
#endif

#endif
