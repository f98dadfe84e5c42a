import Foundation

#if canImport(Darwin)
    import Darwin
#endif

/// An identifier that distinguishes one boot of the machine from the next.
///
/// Written bytes survive the end of the process, but may be lost when the machine loses power.
enum BootSession {
    /// The identifier of the current boot, or `nil` if the system does not provide one.
    static let current: String? = {
        #if canImport(Darwin)
            var size = 0
            guard sysctlbyname("kern.bootsessionuuid", nil, &size, nil, 0) == 0, size > 1 else { return nil }
            var bytes = [CChar](repeating: 0, count: size)
            guard sysctlbyname("kern.bootsessionuuid", &bytes, &size, nil, 0) == 0 else { return nil }
            return String(decoding: bytes.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
        #else
            let text = try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
            return text?.trimmingCharacters(in: .whitespacesAndNewlines)
        #endif
    }()
}
