#if !canImport(CryptoKit)
    import Foundation

    #if canImport(Glibc)
        import Glibc
    #elseif canImport(Musl)
        import Musl
    #endif

    /// The functions for Ed25519 in the system's libcrypto (OpenSSL, `EVP_PKEY-ED25519(7)`).
    struct LibCrypto: Sendable {
        /// The library of this system, or the reason why there is none.
        static let shared = load(["libcrypto.so.3", "libcrypto.so.1.1"])

        /// The identifier of Ed25519 in `obj_mac.h` (`NID_ED25519`).
        private static let ed25519: Int32 = 1_087

        private typealias Bytes = UnsafePointer<UInt8>?
        private typealias MutableBytes = UnsafeMutablePointer<UInt8>?
        private typealias Pointer = OpaquePointer?
        private typealias MakeKey = @Sendable @convention(c) (Int32, Pointer, Bytes, Int) -> Pointer
        private typealias ReadKey =
            @Sendable @convention(c) (Pointer, MutableBytes, UnsafeMutablePointer<Int>?) -> Int32
        private typealias Begin = @Sendable @convention(c) (Pointer, Pointer, Pointer, Pointer, Pointer) -> Int32
        private typealias Sign =
            @Sendable @convention(c) (Pointer, MutableBytes, UnsafeMutablePointer<Int>?, Bytes, Int) -> Int32
        private typealias Verify = @Sendable @convention(c) (Pointer, Bytes, Int, Bytes, Int) -> Int32
        private typealias Make = @Sendable @convention(c) () -> Pointer
        private typealias Free = @Sendable @convention(c) (Pointer) -> Void

        private let makePublicKey: MakeKey
        private let makePrivateKey: MakeKey
        private let readPublicKey: ReadKey
        private let freeKey: Free
        private let makeContext: Make
        private let freeContext: Free
        private let beginSigning: Begin
        private let sign: Sign
        private let beginVerifying: Begin
        private let verify: Verify

        /// Loads the first of the named libraries that exists.
        static func load(_ names: [String]) -> Result<LibCrypto, Ed25519.Unavailable> {
            guard let library = names.lazy.compactMap({ dlopen($0, RTLD_NOW | RTLD_LOCAL) }).first else {
                let advice = "apt-get install libssl3 (Debian, Ubuntu), dnf install openssl-libs (Fedora, RHEL)"
                return .failure(
                    Ed25519.Unavailable(
                        description: "\(names.joined(separator: " or ")) was not found. Install it: \(advice)."
                    )
                )
            }
            do throws(Ed25519.Unavailable) {
                return .success(try LibCrypto(library))
            } catch {
                return .failure(error)
            }
        }

        private init(_ library: UnsafeMutableRawPointer) throws(Ed25519.Unavailable) {
            // The types of the functions are those of `openssl/evp.h`, which OpenSSL keeps from 1.1.1 on.
            func find<Function>(_ name: String, as type: Function.Type) throws(Ed25519.Unavailable) -> Function {
                guard let found = dlsym(library, name) else {
                    throw Ed25519.Unavailable(description: "The system's libcrypto has no function \(name).")
                }
                return unsafeBitCast(found, to: type)
            }
            makePublicKey = try find("EVP_PKEY_new_raw_public_key", as: MakeKey.self)
            makePrivateKey = try find("EVP_PKEY_new_raw_private_key", as: MakeKey.self)
            readPublicKey = try find("EVP_PKEY_get_raw_public_key", as: ReadKey.self)
            freeKey = try find("EVP_PKEY_free", as: Free.self)
            makeContext = try find("EVP_MD_CTX_new", as: Make.self)
            freeContext = try find("EVP_MD_CTX_free", as: Free.self)
            beginSigning = try find("EVP_DigestSignInit", as: Begin.self)
            sign = try find("EVP_DigestSign", as: Sign.self)
            beginVerifying = try find("EVP_DigestVerifyInit", as: Begin.self)
            verify = try find("EVP_DigestVerify", as: Verify.self)
        }
    }

    extension LibCrypto {
        func publicKey(of privateKey: Data) -> Data? {
            withKey(makePrivateKey, privateKey) { key in
                var bytes = [UInt8](repeating: 0, count: Ed25519.keySize)
                var count = bytes.count
                guard readPublicKey(key, &bytes, &count) == 1, count == bytes.count else { return nil }
                return Data(bytes)
            }
        }

        func signature(of message: Data, by privateKey: Data) -> Data? {
            withKey(makePrivateKey, privateKey) { key in
                withContext { context in
                    var bytes = [UInt8](repeating: 0, count: Ed25519.signatureSize)
                    var count = bytes.count
                    let text = [UInt8](message)
                    guard beginSigning(context, nil, nil, nil, key) == 1,
                        sign(context, &bytes, &count, text, text.count) == 1, count == bytes.count
                    else { return nil }
                    return Data(bytes)
                }
            }
        }

        func isValid(_ signature: Data, of message: Data, by publicKey: Data) -> Bool {
            let isValid = withKey(makePublicKey, publicKey) { key in
                withContext { context in
                    let (proof, text) = ([UInt8](signature), [UInt8](message))
                    return beginVerifying(context, nil, nil, nil, key) == 1
                        && verify(context, proof, proof.count, text, text.count) == 1
                }
            }
            return isValid ?? false
        }

        private func withKey<Value>(_ make: MakeKey, _ bytes: Data, _ body: (OpaquePointer) -> Value?) -> Value? {
            guard bytes.count == Ed25519.keySize, let key = make(Self.ed25519, nil, [UInt8](bytes), bytes.count) else {
                return nil
            }
            defer { freeKey(key) }
            return body(key)
        }

        private func withContext<Value>(_ body: (OpaquePointer) -> Value?) -> Value? {
            guard let context = makeContext() else { return nil }
            defer { freeContext(context) }
            return body(context)
        }
    }
#endif
