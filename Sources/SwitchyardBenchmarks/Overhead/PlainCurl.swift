#if os(Linux)
    import Foundation
    import Glibc

    /// The functions of libcurl that ``PlainLoop`` calls, from the same loaded library that the transport uses.
    ///
    /// `curl_easy_setopt` and `curl_easy_getinfo` are variadic in C. On the processors that Swift supports, Linux
    /// passes variadic arguments like other arguments, so the functions can be called with a fixed signature for each
    /// kind of argument.
    struct PlainCurl {
        typealias Receive =
            @convention(c) (UnsafeRawPointer?, Int, Int, UnsafeMutableRawPointer?) -> Int
        typealias SetLong = @convention(c) (OpaquePointer, Int32, Int) -> Int32
        typealias SetPointer = @convention(c) (OpaquePointer, Int32, UnsafeMutableRawPointer?) -> Int32
        typealias SetFunction = @convention(c) (OpaquePointer, Int32, Receive) -> Int32
        typealias GetPointer =
            @convention(c) (OpaquePointer, Int32, UnsafeMutablePointer<UnsafeMutableRawPointer?>) -> Int32

        /// `CURLMsg` without the unused part of its union.
        struct Message {
            var kind: Int32
            var easy: OpaquePointer?
            var result: Int32
        }

        // The values are part of libcurl's stable ABI (https://curl.se/libcurl/abi.html).
        static let receiver: Int32 = 10_001
        static let url: Int32 = 10_002
        static let acceptEncoding: Int32 = 10_102
        static let receive: Int32 = 20_011
        static let noSignal: Int32 = 99
        static let owner: Int32 = 10_103
        static let ownerInfo: Int32 = 0x10_0015

        let easyInit: @convention(c) () -> OpaquePointer?
        let easyCleanup: @convention(c) (OpaquePointer) -> Void
        let setLong: SetLong
        let setPointer: SetPointer
        let setFunction: SetFunction
        let getPointer: GetPointer
        let multiInit: @convention(c) () -> OpaquePointer?
        let multiCleanup: @convention(c) (OpaquePointer) -> Int32
        let multiAdd: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
        let multiRemove: @convention(c) (OpaquePointer, OpaquePointer) -> Int32
        let multiPerform: @convention(c) (OpaquePointer, UnsafeMutablePointer<Int32>) -> Int32
        let multiPoll:
            @convention(c) (OpaquePointer, UnsafeMutableRawPointer?, UInt32, Int32, UnsafeMutablePointer<Int32>?) ->
                Int32
        let multiInfoRead: @convention(c) (OpaquePointer, UnsafeMutablePointer<Int32>) -> UnsafeMutableRawPointer?

        init() throws {
            guard let library = dlopen("libcurl.so.4", RTLD_NOW) else {
                throw BenchmarkError("libcurl.so.4 is missing")
            }
            func find<Function>(_ name: String) throws -> Function {
                guard let symbol = dlsym(library, name) else { throw BenchmarkError("libcurl has no \(name)") }
                return unsafeBitCast(symbol, to: Function.self)
            }
            easyInit = try find("curl_easy_init")
            easyCleanup = try find("curl_easy_cleanup")
            setLong = try find("curl_easy_setopt")
            setPointer = try find("curl_easy_setopt")
            setFunction = try find("curl_easy_setopt")
            getPointer = try find("curl_easy_getinfo")
            multiInit = try find("curl_multi_init")
            multiCleanup = try find("curl_multi_cleanup")
            multiAdd = try find("curl_multi_add_handle")
            multiRemove = try find("curl_multi_remove_handle")
            multiPerform = try find("curl_multi_perform")
            multiPoll = try find("curl_multi_poll")
            multiInfoRead = try find("curl_multi_info_read")
        }
    }
#endif
